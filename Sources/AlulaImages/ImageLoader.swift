public import AlulaClient
public import Foundation

/// Loads thumbnails and decodes them for display: once for all views, and not on the main thread.
///
/// A ``ThumbnailLoader`` gets the files. This class adds the pixels, and a cache for them, in which views look without
/// waiting.
public final class ImageLoader<Decoder: ThumbnailDecoding>: Sendable {
    /// A decoded image.
    public typealias Image = Decoder.Image

    /// The limits of a loader.
    public struct Configuration: Sendable {
        /// The layer for pixels; nil creates one of ``capacity`` bytes.
        public var pixels: (any ThumbnailCaching<Image>)?
        /// The maximum size of the pixels in bytes.
        public var capacity = 100 << 20
        /// The maximum number of concurrent decodes, at least one.
        public var maximumActiveDecodes = 2

        /// Creates the default configuration.
        public init() {}
    }

    private typealias Decode = Task<Image?, Never>

    /// The loader of the files.
    public let thumbnails: ThumbnailLoader
    private let decoder: Decoder
    private let pixels: any ThumbnailCaching<Image>
    private let queue: WorkQueue
    private let decodes = Guarded<[URL: Decode]>([:])
    private let now: @Sendable () -> Date

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - thumbnails: The loader of the files.
    ///   - decoder: The decoder of the platform.
    ///   - configuration: The limits of the loader.
    public convenience init(
        _ thumbnails: ThumbnailLoader, decoder: Decoder, configuration: Configuration = Configuration()
    ) {
        self.init(thumbnails, decoder: decoder, configuration: configuration, now: { .now })
    }

    init(
        _ thumbnails: ThumbnailLoader, decoder: Decoder, configuration: Configuration,
        now: @escaping @Sendable () -> Date
    ) {
        self.thumbnails = thumbnails
        self.decoder = decoder
        self.now = now
        pixels =
            configuration.pixels
            ?? ThumbnailMemoryCache<Image>(capacity: configuration.capacity, cost: decoder.cost(of:))
        queue = WorkQueue(width: max(1, configuration.maximumActiveDecodes))
    }

    /// Returns the image at a URL if its pixels are in memory and fresh.
    public func cachedImage(at url: URL) -> Image? {
        pixels.value(for: url).flatMap { $0.expires > now() ? $0.value : nil }
    }

    /// Returns the image at a URL.
    ///
    /// - Parameters:
    ///   - url: A URL of the service; ``ThumbnailService/url(of:)-(ThumbnailRequest)`` creates them.
    ///   - priority: The importance of the load.
    ///   - progress: Called while the file arrives, on the caller's actor.
    /// - Throws: ``ClientError``.
    public func image(
        at url: URL, priority: ThumbnailLoader.Priority = .normal, progress: (TransferProgress) -> Void = { _ in }
    ) async throws(ClientError) -> Image {
        if let image = cachedImage(at: url) { return image }
        let thumbnail = try await thumbnail(at: url, priority: priority, progress: progress)
        guard let image = await decode(thumbnail, from: url).value else {
            throw .undecodable(mediaType: thumbnail.mediaType)
        }
        return image
    }

    /// Removes the image at a URL from the caches of pixels and files.
    public func removeCached(_ url: URL) {
        pixels.removeValue(for: url)
        thumbnails.removeCached(url)
    }

    /// Removes all pixels and files from memory, for example when it is short.
    public func removeAllFromMemory() {
        pixels.removeAll()
        thumbnails.removeAllFromMemory()
    }

    private func thumbnail(
        at url: URL, priority: ThumbnailLoader.Priority, progress: (TransferProgress) -> Void
    ) async throws(ClientError) -> Thumbnail {
        do {
            for try await element in await thumbnails.load(url, priority: priority) {
                switch element {
                case .thumbnail(let thumbnail): return thumbnail
                case .progress(let transfer): progress(transfer)
                case .placeholder: break
                }
            }
        } catch let error as ClientError {
            throw error
        } catch {
            throw .cancelled
        }
        throw .cancelled
    }

    /// Returns the decode of a file, which callers of the same URL share.
    private func decode(_ thumbnail: Thumbnail, from url: URL) -> Decode {
        decodes.withLock { running in
            if let decode = running[url] { return decode }
            // Another caller's decode may have ended since this one looked into the cache.
            if let image = cachedImage(at: url) { return Decode { image } }
            let decode = Decode { [decoder, decodes, pixels, queue, now] in
                let image = await queue.run { decoder.image(from: thumbnail.data) }
                if let image, thumbnail.lifetime > .zero {
                    let expires = now() + thumbnail.lifetime / .seconds(1)
                    pixels.store(CachedValue(image, expires: expires), for: url)
                }
                decodes.withLock { $0[url] = nil }
                return image
            }
            running[url] = decode
            return decode
        }
    }
}

extension ThumbnailPrefetcher {
    /// Creates a prefetcher that also decodes, for views that are about to appear.
    public convenience init<Decoder>(_ images: ImageLoader<Decoder>) {
        self.init { url in _ = try? await images.image(at: url, priority: .low) }
    }
}
