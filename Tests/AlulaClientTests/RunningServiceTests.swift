import Coordination
import Foundation
import TestSupport
import Testing

@testable import AlulaClient

/// The client and the built service over real sockets, with keys.
@Suite(.timeLimit(.minutes(2)))
struct RunningServiceTests {
    private static let key = String(repeating: "c3", count: 32)

    /// Runs `body` with a service in its own process, an origin that serves `/a.jpg`, and the folder `out:`.
    private func withService(
        _ body: (ThumbnailService, FakeOrigin, TemporaryFolder) async throws -> Void
    ) async throws {
        let output = TemporaryFolder()
        let settings = TemporaryFile(#"{"origins": {"out": {"folder": "\#(output.path)", "write": true}}}"#)
        let origin = try FakeOrigin()
        defer { origin.stop() }
        origin.serve("/a.jpg", .image(ImageFixture.jpeg.array))
        let process = Process()
        process.executableURL = URL(filePath: BuiltExecutable.alula)
        process.arguments = [
            "serve", "--bind", "127.0.0.1", "--port", "0", "--admin-port", "0", "--allowed-networks", "127.0.0.0/8",
            "--decode-in-process", "on", "--uploads", "on", "--signing-keys", Self.key,
            "--config", settings.path,
        ]
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        let rest = Locked(Data())
        defer {
            process.terminate()
            process.waitUntilExit()
            // A service built with a sanitizer prints its findings there.
            #expect(process.terminationStatus == 0, "\(rest.withLock { String(decoding: $0, as: UTF8.self) })")
        }
        var log = ""
        while !log.contains("\n") {
            let bytes = errors.fileHandleForReading.availableData
            try #require(!bytes.isEmpty, "The service ended: \(log)")
            log += String(decoding: bytes, as: UTF8.self)
        }
        // The service must not block because its log is not read.
        errors.fileHandleForReading.readabilityHandler = { handle in
            let bytes = handle.availableData
            rest.withLock { $0 += bytes }
        }
        let port = try #require(log.firstMatch(of: /"port":(\d+)/)).1
        let base = try #require(URL(string: "http://127.0.0.1:\(port)"))
        try await body(ThumbnailService(base, key: SigningKey(hexadecimal: Self.key)), origin, output)
    }

    @Test func `thumbnails, facts, lists and uploads work with signatures`() async throws {
        try await withService { service, origin, output in
            let source = origin.url("/a.jpg")
            let thumbnail = try await service.thumbnail(
                ThumbnailRequest(source, Rendition(width: 20, format: .png), expires: .now + 600))
            #expect(thumbnail.mediaType == "image/png" && thumbnail.data.starts(with: [0x89, 0x50]))
            #expect(thumbnail.entityTag != nil && thumbnail.failure == nil)
            let info = try await service.info(of: source, including: [.color, .blurHash])
            #expect((info.width, info.height, info.format) == (64, 48, "jpeg"))
            #expect((info.colorSpace, info.hdr) == ("srgb", "none"))
            #expect(info.blurHash != nil && info.dominantColor != nil && info.url == source)
            let detailed = try await service.info(
                InfoRequest(
                    source, including: [.blurHash], components: InfoRequest.BlurHashComponents(columns: 9, rows: 8),
                    expires: .now + 600))
            // Six characters for size, scale and mean, and two for each further component (BlurHash algorithm).
            #expect(detailed.blurHash?.count == 148)
            let file = Data(ImageFixture.jpeg.array)
            let upload = try await service.thumbnail(
                ofFile: file, Rendition(width: 20, format: .png), expires: .now + 600)
            #expect(upload.data == thumbnail.data)
            let photo = URL(filePath: output.path).appending(path: "photo")
            // Decoders ignore bytes after the image; with them the file is sent in many pieces.
            try (file + Data(count: 3_000_000)).write(to: photo)
            var sent: [Double] = []
            let streamed = try await service.thumbnail(ofFile: photo, Rendition(width: 20, format: .png)) { progress in
                if let fraction = progress.fraction { sent.append(fraction) }
            }
            #expect(streamed.data == thumbnail.data)
            #expect(sent == sent.sorted() && sent.last == 1)
            let orders: [RenditionOrder] = [
                .thumbnail(Rendition(width: 20, format: .png), named: "small"), .thumbnail(Rendition(width: 30)),
                .thumbnail(Rendition(width: 0), named: "bad"), .info([.palette], named: "facts"),
            ]
            for parts in [
                try await service.thumbnails(of: source, orders),
                try await service.thumbnails(ofFile: file, orders, expires: .now + 600),
                try await service.thumbnails(ofFile: photo, orders),
            ] {
                var found: [String: ThumbnailPart.Content] = [:]
                for try await part in parts { found[part.name] = part.content }
                #expect(Set(found.keys) == ["small", "1", "bad", "facts"])
                guard case .thumbnail(let small) = found["small"], case .thumbnail(let second) = found["1"],
                    case .problem(let problem) = found["bad"], case .info(let facts) = found["facts"]
                else {
                    Issue.record("\(found)")
                    continue
                }
                #expect(small.data == thumbnail.data && second.mediaType == "image/jpeg")
                #expect(problem.code == "bad_parameter" && problem.parameter == "w")
                #expect(facts.palette?.isEmpty == false)
            }
        }
    }

    @Test func `an unchanged image is not sent again`() async throws {
        try await withService { service, origin, _ in
            let request = ThumbnailRequest(origin.url("/a.jpg"), Rendition(width: 20, format: .png))
            let first = try await service.thumbnail(request)
            let second = try await service.thumbnail(request, revalidating: first)
            #expect(second.data == first.data && second.mediaType == "image/png" && second.entityTag == first.entityTag)
        }
    }

    @Test func `a thumbnail is written to its destination, and its part has the location`() async throws {
        try await withService { service, origin, output in
            let url = try #require(URL(string: origin.url("/a.jpg")))
            let orders: [RenditionOrder] = [
                .thumbnail(Rendition(width: 20, format: .png), to: "out:a/small.png", named: "small"),
                .thumbnail(Rendition(width: 20, format: .png), to: "elsewhere:a.png", named: "bad"),
            ]
            var stored: [StoredThumbnail] = []
            for try await part in try await service.thumbnails(of: url, orders) {
                switch part.content {
                case .stored(let place): stored.append(place)
                case .problem(let problem): #expect(part.name == "bad" && problem.code == "origin_not_writable")
                default: Issue.record("\(part)")
                }
            }
            let file = try Data(contentsOf: URL(filePath: output.path).appending(path: "a/small.png"))
            #expect(stored.map(\.location) == ["out:a/small.png"] && stored.map(\.bytes) == [file.count])
            #expect(stored.map(\.width) == [20] && stored.map(\.mediaType) == ["image/png"])
        }
    }

    @Test func `the service knows every parameter that the client writes`() async throws {
        try await withService { service, origin, _ in
            var rendition = URLTests.full
            rendition.presets = []
            rendition.watermark?.source = origin.url("/a.jpg")
            let request = ThumbnailRequest(origin.url("/a.jpg"), rendition, placeholder: "red", expires: .now + 600)
            let thumbnail = try await service.thumbnail(request)
            #expect(thumbnail.mediaType == "image/webp" && thumbnail.failure == nil)
        }
    }

    @Test func `a rejection has its code and parameter, and a placeholder has its failure code`() async throws {
        try await withService { service, origin, _ in
            let source = origin.url("/missing.jpg")
            await #expect { try await service.thumbnail(ThumbnailRequest(source)) } throws: { error in
                guard case ClientError.problem(let problem, nil) = error else { return false }
                return problem.status == 404 && problem.code == "source_not_found" && problem.requestID != nil
            }
            let placeholder = try await service.thumbnail(
                ThumbnailRequest(source, Rendition(width: 5), placeholder: "red"))
            #expect(placeholder.failure == "source_not_found" && placeholder.lifetime == .zero)
            let stranger = try ThumbnailService(service.baseURL)
            await #expect { try await stranger.info(of: source) } throws: { error in
                if case ClientError.problem(let problem, _) = error { problem.code == "bad_signature" } else { false }
            }
            await #expect { try await service.thumbnails(of: source, []) } throws: { error in
                if case ClientError.problem(let problem, _) = error { problem.status == 400 } else { false }
            }
        }
    }

    @Test func `a caller that leaves a list ends its fetch`() async throws {
        try await withService { service, origin, _ in
            origin.serve("/slow.jpg", .silence)
            let slow = origin.url("/slow.jpg")
            let task = Task { try await service.thumbnails(of: slow, [.thumbnail(Rendition(width: 5))]) }
            await origin.reachedHits(1, of: "/slow.jpg")
            task.cancel()
            _ = await task.result
            await origin.abandonment(of: "/slow.jpg")
        }
    }
}
