public import Foundation

/// A caller's wait for a thumbnail.
///
/// It is a sequence of one or two images: the placeholder, unless the thumbnail is there at once, and the thumbnail.
/// One task reads it, once: as with `AsyncThrowingStream`, two tasks that wait for its next image end the program. Each
/// task calls ``ThumbnailLoader/load(_:placeholder:)`` itself; those of one URL share its request.
///
/// If it is forgotten, or the task that iterates it is cancelled, it leaves as if its ``receipt`` were cancelled.
public struct ThumbnailLoad: AsyncSequence, Sendable {
    /// An image to show.
    public enum Element: Hashable, Sendable {
        /// The image to show until the thumbnail is there.
        case placeholder(Thumbnail)
        /// The thumbnail.
        case thumbnail(Thumbnail)
    }

    /// The handle of one caller: cancelling it cancels no other's wait.
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

        /// The next image; nil after the thumbnail.
        ///
        /// - Throws: ``ClientError``.
        public mutating func next() async throws -> Element? {
            for try await element in elements { return element }
            if Task.isCancelled { throw ClientError.cancelled }
            return nil
        }
    }

    /// An iterator over the images.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(elements: elements) }

    /// The thumbnail, when it is there; reads the sequence to its end.
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
