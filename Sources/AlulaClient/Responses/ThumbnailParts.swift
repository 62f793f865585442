import Foundation

/// One of several results for one source.
public struct ThumbnailPart: Sendable {
    /// The content of a part.
    public enum Content: Sendable {
        /// An image.
        case thumbnail(Thumbnail)
        /// An image that the service wrote to its destination.
        case stored(StoredThumbnail)
        /// Facts about the source.
        case info(ImageInfo)
        /// The error of a failed result.
        case problem(Problem)
    }

    /// The name of the part's order, or its index.
    public let name: String
    /// The result.
    public let content: Content

    /// The image; nil for any other content.
    public var thumbnail: Thumbnail? {
        if case .thumbnail(let thumbnail) = content { thumbnail } else { nil }
    }
}

/// An image that the service wrote into a folder or bucket.
public struct StoredThumbnail: Codable, Hashable, Sendable {
    /// The destination of its order, such as `out:hero/1200.webp`.
    public let location: String
    /// The media type, such as `image/webp`.
    public let mediaType: String
    /// The size of the file in bytes.
    public let bytes: Int
    /// The size of the image in pixels.
    public let width, height: Int
    /// The entity tag, in quotes.
    public let entityTag: String?

    private enum CodingKeys: String, CodingKey {
        case location, bytes, width, height
        case mediaType = "type"
        case entityTag = "etag"
    }
}

/// The results for one source, in order of arrival.
///
/// Canceling the iterating task ends the request. The sequence can be iterated only once.
public struct ThumbnailParts: AsyncSequence, Sendable {
    /// A result.
    public typealias Element = ThumbnailPart

    let response: ServiceResponse
    let reader: MultipartReader

    /// Reads the response.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let response: ServiceResponse
        fileprivate var reader: MultipartReader
        fileprivate var waiting: ArraySlice<MultipartReader.Part> = []

        /// Returns the next result; nil after the last one.
        ///
        /// - Throws: ``ClientError`` if the response is interrupted, or a part is too long.
        public mutating func next() async throws -> ThumbnailPart? {
            while waiting.isEmpty, !reader.isComplete {
                guard let bytes = try await response.next() else {
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
            case "application/json":
                // Facts have no location.
                if let stored = try? JSONDecoder().decode(StoredThumbnail.self, from: part.content) {
                    content = .stored(stored)
                } else {
                    content = .info(try ServiceResponse.decoded(part.content, status: 200))
                }
            case "application/problem+json": content = .problem(try ServiceResponse.decoded(part.content, status: 200))
            default: content = .thumbnail(Thumbnail(data: part.content, field: part.field))
            }
            return ThumbnailPart(name: name, content: content)
        }
    }

    /// Returns an iterator over the results.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(response: response, reader: reader)
    }
}
