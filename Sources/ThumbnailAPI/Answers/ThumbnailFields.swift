import HTTPTypes
import Imaging
import ThumbnailPipeline

/// Writes the header fields of a thumbnail's answer.
struct ThumbnailFields: Sendable {
    private static let maximumCount = 19
    private let common: HTTPFields

    /// Builds on the `common` fields.
    init(common: HTTPFields) {
        self.common = common
    }

    /// The fields of a 304: those that RFC 9110 section 15.4.5 demands and those of all answers, without what describes the body.
    static func notModified(_ fields: HTTPFields) -> HTTPFields {
        HTTPFields(fields.filter { $0.name != .contentType && $0.name != .contentDisposition })
    }

    /// The fields of a 200 but those of the moment.
    ///
    /// - Parameters:
    ///   - thumbnail: What is answered.
    ///   - prepared: What was asked.
    ///   - secondsLeft: Seconds until the target expires, where it does: `max-age` ends with it.
    func lasting(_ thumbnail: Thumbnail, prepared: PreparedQuery, secondsLeft: Int?) -> HTTPFields {
        let format = thumbnail.image.format
        var fields = common
        fields.reserveCapacity(Self.maximumCount)
        fields.append(.contentType, format.mediaType)
        fields.append(.eTag, thumbnail.eTag)
        if thumbnail.isIncomplete { fields.append(.alulaIncomplete, "1") }
        if let date = thumbnail.lastModified { fields.append(.lastModified, date.imfFixdate) }
        fields.append(.cacheControl, CacheDirectives.text(thumbnail.freshness, secondsLeft: secondsLeft))
        if prepared.isNegotiated { fields.append(.vary, "Accept") }
        fields.append(
            .contentDisposition, prepared.fileName.contentDisposition(fileExtension: format.fileExtension))
        if !thumbnail.cacheStatus.isEmpty {
            fields.append(.cacheStatus, CacheStatusText.text(thumbnail.cacheStatus))
        }
        return fields
    }
}
