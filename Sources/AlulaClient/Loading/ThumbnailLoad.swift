public import Foundation

/// A caller's wait for a thumbnail.
///
/// It is a sequence of states: the placeholder, unless the thumbnail is in memory, the progress of the transfer, and
/// the thumbnail. It can be iterated once; calls of ``ThumbnailLoader/load(_:priority:placeholder:)`` for the same URL
/// share a request.
///
/// If the value is dropped, or the iterating task is canceled, the wait ends as if its ``receipt`` were canceled.
public struct ThumbnailLoad: AsyncSequence, Sendable {
    /// A state of a load.
    public enum Element: Hashable, Sendable {
        /// The image to show until the thumbnail is available.
        case placeholder(Thumbnail)
        /// The part of the thumbnail that has arrived.
        case progress(TransferProgress)
        /// The thumbnail.
        case thumbnail(Thumbnail)

        var isProgress: Bool { if case .progress = self { true } else { false } }
    }

    /// A handle for one caller; canceling it does not affect other callers.
    public struct Receipt: Hashable, Sendable {
        /// The URL that is loaded.
        public let url: URL
        let caller: UInt64
        let loader: ObjectIdentifier
    }

    /// The handle of this wait.
    public let receipt: Receipt
    let elements: EventReader<Element>

    /// Waits for the states of a load.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let elements: EventReader<Element>

        /// Returns the next state; nil after the thumbnail.
        ///
        /// - Throws: ``ClientError``.
        public mutating func next() async throws -> Element? { try await elements.next() }
    }

    /// Returns an iterator over the states.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(elements: elements) }

    /// The thumbnail, once it is available; reads the sequence to its end.
    ///
    /// - Throws: ``ClientError``.
    public var thumbnail: Thumbnail {
        get async throws(ClientError) {
            while let element = try await elements.next() {
                if case .thumbnail(let thumbnail) = element { return thumbnail }
            }
            throw .cancelled
        }
    }
}
