import Foundation
import TestSupport
import Testing

@testable import AlulaClient
@testable import AlulaImages

/// Decoded images with a scripted service; images are texts instead of pixels.
@Suite(.timeLimit(.minutes(2)))
struct ImageLoaderTests {
    /// Counts decodes; decoding `"bad"` fails.
    private struct Decoder: ThumbnailDecoding {
        let decodes = EventCounter()

        func image(from data: Data) -> String? {
            decodes.increment()
            let text = String(decoding: data, as: UTF8.self)
            return text == "bad" ? nil : text
        }

        func cost(of image: String) -> Int { image.utf8.count * 100 }
    }

    private let origin: FakeOrigin
    private let files: ThumbnailLoader
    private let time = ManualTimekeeper()

    init() throws {
        origin = try FakeOrigin()
        var configuration = ThumbnailLoader.Configuration()
        configuration.retry = .none
        let now = { @Sendable [time] in Date(timeIntervalSince1970: Double(time.secondsSince1970)) }
        files = ThumbnailLoader(
            try ThumbnailService(try #require(URL(string: origin.url("")))), configuration: configuration,
            environment: ThumbnailLoader.Environment(now: now))
    }

    private func url(_ path: String) -> URL { files.service.baseURL.appending(path: path) }

    private func serve(_ path: String, _ text: String, at gate: Gate? = nil) {
        let answer = FakeResponse.image(Array(text.utf8), type: "image/png").with("Cache-Control", "max-age=60")
        origin.serve(path, gate.map { answer.held(at: $0) } ?? answer)
    }

    private func loader(_ decoder: Decoder, capacity: Int = 1_000) -> ImageLoader<Decoder> {
        var configuration = ImageLoader<Decoder>.Configuration()
        configuration.capacity = capacity
        let now = { @Sendable [time] in Date(timeIntervalSince1970: Double(time.secondsSince1970)) }
        return ImageLoader(files, decoder: decoder, configuration: configuration, now: now)
    }

    @Test func `callers of one URL share a decode, and its pixels stay in memory until they are stale`() async throws {
        let (gate, decoder) = (Gate(), Decoder())
        let (images, url) = (loader(decoder), url("/a"))
        serve("/a", "a", at: gate)
        let callers = (0..<10).map { _ in Task { try await images.image(at: url) } }
        gate.open()
        for caller in callers { #expect(try await caller.value == "a") }
        #expect(images.cachedImage(at: url) == "a")
        #expect(try await images.image(at: url) == "a")
        #expect(decoder.decodes.count == 1 && origin.hits("/a") == 1)
        time.advance(by: .seconds(60))
        #expect(images.cachedImage(at: url) == nil)
        #expect(try await images.image(at: url) == "a" && origin.hits("/a") == 2)
        images.removeCached(url)
        #expect(images.cachedImage(at: url) == nil && files.cached(url) == nil)
    }

    @Test func `pixels are limited by their own size, not by the file's`() async throws {
        let images = loader(Decoder(), capacity: 1_000)
        for (path, text) in [("/a", "aaaaaa"), ("/b", "bbbbbb"), ("/c", "cccccccccccc")] {
            serve(path, text)
            _ = try await images.image(at: url(path))
        }
        #expect(images.cachedImage(at: url("/a")) == nil && images.cachedImage(at: url("/b")) == "bbbbbb")
        // Larger than the whole cache.
        #expect(images.cachedImage(at: url("/c")) == nil)
        images.removeAllFromMemory()
        #expect(images.cachedImage(at: url("/b")) == nil && files.cached(url("/b")) == nil)
    }

    @Test func `an undecodable file is an error that names its type`() async throws {
        serve("/a", "bad")
        let images = loader(Decoder())
        await #expect { try await images.image(at: url("/a")) } throws: {
            if case ClientError.undecodable("image/png") = $0 { true } else { false }
        }
        await #expect(throws: ClientError.self) { try await images.image(at: url("/missing")) }
    }

    @Test func `a prefetcher for views decodes, too`() async throws {
        serve("/a", "a")
        let (images, url) = (loader(Decoder()), url("/a"))
        let prefetcher = ThumbnailPrefetcher(images)
        prefetcher.startPrefetching([url])
        #expect(await eventually { images.cachedImage(at: url) == "a" })
        prefetcher.stopPrefetching()
    }

    @Test @MainActor func `a view shows the placeholder, the image, and at once an image in memory`() async throws {
        let images = loader(Decoder())
        let url = url("/a")
        serve("/a", "a")
        let presenter = ImagePresenter<Decoder>()
        var shown: [String?] = []
        let result = await withCheckedContinuation { continuation in
            presenter.present(url, from: images, placeholder: "p", completion: { continuation.resume(returning: $0) }) {
                shown.append($0)
            }
        }
        #expect(try result.get() == "a" && shown == ["p", "a"])
        presenter.present(url, from: images, placeholder: "p") { shown.append($0) }
        #expect(shown == ["p", "a", "a"])
        presenter.present(nil, from: images) { shown.append($0) }
        #expect(shown == ["p", "a", "a", nil])
    }

    @Test @MainActor func `a reused view never shows the image of its earlier row`() async throws {
        let images = loader(Decoder())
        origin.serve("/slow", .silence)
        serve("/b", "b")
        let presenter = ImagePresenter<Decoder>()
        var shown: [String?] = []
        presenter.present(url("/slow"), from: images, completion: { _ in shown.append("late") }) { shown.append($0) }
        await origin.reachedHits(1, of: "/slow")
        let second = url("/b")
        _ = await withCheckedContinuation { continuation in
            presenter.present(second, from: images, completion: { continuation.resume(returning: $0) }) {
                shown.append($0)
            }
        }
        await origin.abandonment(of: "/slow")
        #expect(shown == [nil, nil, "b"])
        // Releasing a presenter cancels its load.
        var dropped: ImagePresenter<Decoder>? = ImagePresenter()
        dropped?.present(url("/slow"), from: images) { _ in }
        await origin.reachedHits(2, of: "/slow")
        dropped = nil
        #expect(await eventually { await files.activeLoads == 0 })
    }

    @Test @MainActor func `a view keeps its placeholder if the load fails`() async throws {
        let images = loader(Decoder())
        let url = url("/missing")
        let presenter = ImagePresenter<Decoder>()
        var shown: [String?] = []
        let result = await withCheckedContinuation { continuation in
            presenter.present(url, from: images, placeholder: "p", completion: { continuation.resume(returning: $0) }) {
                shown.append($0)
            }
        }
        #expect(shown == ["p"])
        #expect(throws: ClientError.self) { try result.get() }
    }
}
