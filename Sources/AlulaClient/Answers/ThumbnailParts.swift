import Foundation

/// One of several results of one source.
public struct ThumbnailPart: Sendable {
    /// The content of a part.
    public enum Content: Sendable {
        /// An image.
        case thumbnail(Thumbnail)
        /// Facts about the source.
        case info(ImageInfo)
        /// The reason why there is neither.
        case problem(Problem)
    }

    /// The name of its order, or its index.
    public let name: String
    /// The result.
    public let content: Content

    /// The image, if it was made.
    public var thumbnail: Thumbnail? {
        if case .thumbnail(let thumbnail) = content { thumbnail } else { nil }
    }
}

/// The results of one source, each as soon as it has arrived.
///
/// Cancelling the task that iterates ends the request. Iterate once.
public struct ThumbnailParts: AsyncSequence, Sendable {
    /// A result.
    public typealias Element = ThumbnailPart

    let answer: Answer
    let reader: MultipartReader

    /// Reads the answer.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let answer: Answer
        fileprivate var reader: MultipartReader
        fileprivate var waiting: ArraySlice<MultipartReader.Part> = []

        /// The next result; nil after the last one.
        ///
        /// - Throws: ``ClientError`` if the answer breaks off, or a part is too long.
        public mutating func next() async throws -> ThumbnailPart? {
            while waiting.isEmpty, !reader.isComplete {
                guard let bytes = try await answer.next() else {
                    throw ClientError.transport(URLError(.networkConnectionLost))
                }
                waiting = try reader.read(bytes)[...]
            }
            return try waiting.popFirst().map(Self.part)
        }

        private static func part(_ part: MultipartReader.Part) throws -> ThumbnailPart {
            let name = part.field("Content-ID")?.trimmingCharacters(in: ["<", ">"]) ?? ""
            let content: ThumbnailPart.Content
            switch part.field("Content-Type") {
            case "application/json": content = .info(try Answer.decoded(part.content, status: 200))
            case "application/problem+json": content = .problem(try Answer.decoded(part.content, status: 200))
            default: content = .thumbnail(Thumbnail(data: part.content, field: part.field))
            }
            return ThumbnailPart(name: name, content: content)
        }
    }

    /// An iterator over the results.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(answer: answer, reader: reader)
    }
}
