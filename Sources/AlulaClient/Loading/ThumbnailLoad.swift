public import Foundation

/// A caller's wait for a thumbnail.
///
/// It is a sequence of one or two images: the placeholder, unless the thumbnail is available at once, and the
/// thumbnail. One task reads it, once: as with `AsyncThrowingStream`, two tasks that wait for its next image end the
/// program. Each task calls ``ThumbnailLoader/load(_:placeholder:)`` itself; calls for the same URL share a request.
///
/// If the value is dropped, or the iterating task is canceled, the wait ends as if its ``receipt`` were canceled.
public struct ThumbnailLoad: AsyncSequence, Sendable {
    /// An image to show.
    public enum Element: Hashable, Sendable {
        /// The image to show until the thumbnail is available.
        case placeholder(Thumbnail)
        /// The thumbnail.
        case thumbnail(Thumbnail)
    }

    /// A handle for one caller: canceling it affects no other caller.
    public struct Receipt: Hashable, Sendable {
        /// The URL that is loaded.
        public let url: URL
        let caller: UInt64
        let loader: ObjectIdentifier
    }

    /// The handle of this wait.
    public let receipt: Receipt
    let elements: AsyncThrowingStream<Element, any Error>

    /// Waits for the images of a load.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let elements: AsyncThrowingStream<Element, any Error>

        /// Returns the next image; nil after the thumbnail.
        ///
        /// - Throws: ``ClientError``.
        public mutating func next() async throws -> Element? {
            for try await element in elements { return element }
            if Task.isCancelled { throw ClientError.cancelled }
            return nil
        }
    }

    /// Returns an iterator over the images.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(elements: elements) }

    /// The thumbnail, once it is available; reads the sequence to its end.
    ///
    /// - Throws: ``ClientError``.
    public var thumbnail: Thumbnail {
        get async throws(ClientError) {
            do {
                for try await case .thumbnail(let thumbnail) in self { return thumbnail }
            } catch {
                throw ClientError(error)
            }
            throw .cancelled
        }
    }
}
