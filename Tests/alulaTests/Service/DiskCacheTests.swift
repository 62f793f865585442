import Coordination
import Foundation
import HTTPTypes
import Memory
import Recipes
import TestSupport
import Testing

@testable import Composition
@testable import DiskCaching
@testable import Settings

/// The disk cache from an operator's point of view.
@Suite(.timeLimit(.minutes(2)))
final class DiskCacheTests: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "alula-service-\(UUID().uuidString)")
        .path

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private var image: FakeResponse { .image(ImageFixture.jpeg.array).with("Cache-Control", "max-age=1000") }

    @Test func `a restarted service finds earlier results`() async throws {
        // Both services use one origin, because its address is part of the keys.
        let origin = try FakeOrigin()
        defer { origin.stop() }
        origin.serve("/a.jpg", image)
        let url = origin.url("/a.jpg")
        var bodies: [[UInt8]] = []
        for _ in 0..<2 {
            try await withService(["--source-cache-path", folder]) { running in
                let answer = try await running.send("GET", "/thumbnail?url=\(url)&w=32")
                #expect(answer.status == 200)
                bodies.append(answer.body)
                if bodies.count == 2 { #expect(answer.headerFields[.cacheStatus] == "alula-result;hit") }
                _ = try await running.send("GET", "/thumbnail?url=\(url)&w=33")
            }
        }
        #expect(bodies[0] == bodies[1])
        #expect(origin.hits("/a.jpg") == 1)
    }

    @Test func `a purge reaches the disk, and operators see the shares`() async throws {
        try await withService(["--source-cache-path", folder, "--result-cache-disk", "1MiB"]) { running in
            running.origin.serve("/a.jpg", self.image)
            _ = try await running.thumbnail("/a.jpg")
            await running.service.disk?.settled()
            let caches = try await running.send("GET", "/cache", to: .admin).text
            #expect(caches.contains(#""resultDisk":{"bytes":"#) && caches.contains(#""capacity":1048576,"#))
            #expect(try await running.metric("alula_cache_entries{cache=\"sourceDisk\"}") == 1)
            #expect(try await running.metric("alula_disk_cache_working") == 1)
            let url = running.origin.url("/a.jpg")
            let removed = try await running.send("DELETE", "/cache?url=\(url)", to: .admin)
            #expect(removed.status == 200 && removed.text.hasPrefix(#"{"entries":6,"#), "\(removed.text)")
            _ = try await running.thumbnail("/a.jpg")
            #expect(running.origin.hits("/a.jpg") == 2)
            await running.service.disk?.settled()
            let all = try await running.send("DELETE", "/cache", to: .admin)
            #expect(all.text.hasPrefix(#"{"entries":6,"#), "\(all.text)")
            #expect(
                try await running.send("DELETE", "/cache", to: .admin).text
                    == #"{"entries":0,"bytes":0,"complete":true}"#)
        }
    }

    @Test func `an ephemeral session writes nothing, and nor does one without a path`() async throws {
        for arguments in [["--source-cache-path", folder, "--session-mode", "ephemeral"], []] {
            try await withService(arguments) { running in
                running.origin.serve("/a.jpg", self.image)
                let answer = try await running.thumbnail("/a.jpg")
                #expect(answer.status == 200 && running.service.disk == nil)
            }
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test(arguments: ["/proc/alula", "/dev/null/x"])
    func `an unusable path stops the start and is named`(path: String) throws {
        let process = AlulaProcess(["serve", "--port", "0", "--admin-port", "0", "--source-cache-path", path])
        let text = try process.start(until: "alula: cannot start")
        #expect(text.contains("sourceCachePath: \"\(path)\" cannot be used"))
        #expect(process.terminate() == 69)
    }

    @Test func `a world-writable folder stops the start, and the line has the remedy`() throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
        let process = AlulaProcess(["serve", "--port", "0", "--admin-port", "0", "--source-cache-path", folder])
        let text = try process.start(until: "alula: cannot start")
        #expect(text.contains("sourceCachePath: \"\(folder)\" cannot be used: all users can write to it"))
        #expect(process.terminate() == 69)
    }

    @Test func `findings in the folder are logged after the ports`() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("letters".utf8).write(to: URL(filePath: folder + "/alula-cache.sqlite"))
        let process = AlulaProcess(["serve", "--port", "0", "--admin-port", "0", "--source-cache-path", folder])
        let text = try process.start(until: "set aside")
        let lines = text.split(separator: "\n")
        #expect(lines.first?.contains("listening") == true)
        #expect(lines.dropFirst().contains { $0.contains("disk cache file not usable") })
        #expect(process.terminate() == 0)
    }

    @Test func `a folder that another process uses stops the start`() async throws {
        try await withService(["--source-cache-path", folder]) { _ in
            let process = AlulaProcess([
                "serve", "--port", "0", "--admin-port", "0", "--source-cache-path", self.folder,
            ])
            let text = try process.start(until: "alula: cannot start")
            #expect(text.contains("another process uses it"))
            #expect(process.terminate() == 69)
        }
    }

    @Test func `a folder deleted at run time is detected, counted in a metric, and recreated`() async throws {
        try await withService(["--source-cache-path", folder]) { running in
            running.origin.serve("/a.jpg", self.image)
            _ = try await running.thumbnail("/a.jpg")
            await running.service.disk?.settled()
            try FileManager.default.removeItem(atPath: self.folder)
            #expect(try await running.thumbnail("/a.jpg", "w=33").status == 200)
            await running.service.disk?.settled()
            #expect(try await running.metric("alula_disk_cache_failures_total{kind=\"lost_file\"}") == 1)
            #expect(try await running.metric("alula_disk_cache_working") == 1)
            #expect(try await running.metric("alula_cache_entries{cache=\"resultDisk\"}") == 1)
            #expect(FileManager.default.fileExists(atPath: self.folder))
        }
    }

    @Test func `a job makes thumbnails that later requests hit`() async throws {
        try await withService(["--source-cache-path", folder]) { running in
            running.origin.serve("/a.jpg", self.image)
            running.origin.serve("/b.jpg", .status(404))
            let body =
                #"{"sources":[{"url":"\#(running.origin.url("/a.jpg"))","renditions":["w=32","w=33"]},"#
                + #"{"url":"\#(running.origin.url("/b.jpg"))","renditions":["w=32"]}]}"#
            let client = try running.connect(to: .admin)
            client.send(
                "POST /prefetch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
            let accepted = try await client.response()
            #expect(accepted.status == 202)
            let place = try #require(accepted.headerFields[.location])
            let isEnded = await eventually {
                let text = (try? await running.send("GET", place, to: .admin).text) ?? ""
                return text.contains(#""total":3,"done":2,"failed":1,"left":0"#)
            }
            #expect(isEnded)
            for width in [32, 33] {
                let answer = try await running.thumbnail("/a.jpg", "w=\(width)")
                #expect(answer.headerFields[.cacheStatus] == "alula-result;hit")
            }
            #expect(running.origin.hits("/a.jpg") == 1)
        }
    }
}

extension DiskStore {
    /// Waits until all operations requested so far are done.
    func settled() async {
        let answer = Promise<Void>()
        if thread.submit({ _ in answer.fulfill(()) }) { await answer.value() }
    }
}
