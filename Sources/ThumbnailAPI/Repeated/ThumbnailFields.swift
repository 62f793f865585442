import Dialects
import HTTPTypes
import Recipes
import Text
import ThumbnailPipeline
import ThumbnailTypes

struct ThumbnailFields: Sendable {
    private static let maximumCount = 23
    private let common: HTTPFields
    private let cacheTagField: CacheTagField?

    init(common: HTTPFields, cacheTagField: CacheTagField? = nil) {
        self.common = common
        self.cacheTagField = cacheTagField
    }

    /// Returns the fields of a 200 that do not depend on the time, because the target never expires.
    func lasting(_ thumbnail: Thumbnail, to resolved: ResolvedRequest) -> HTTPFields {
        let request = resolved.request
        let form = resolved.request.form
        let format = thumbnail.image.format
        var fields = resolved.forwardedNames.isEmpty ? common : common.restrictedToSite()
        fields.reserveCapacity(Self.maximumCount)
        fields.append(.contentType, format.mediaType)
        fields.append(.eTag, thumbnail.eTag)
        fields.append(findingsOf: thumbnail)
        if form.includesSize { fields.append(sizeOf: thumbnail.image) }
        if let date = thumbnail.lastModified { fields.append(.lastModified, date.imfFixdate) }
        fields.append(.cacheControl, cacheControl(of: thumbnail, as: form))
        if let vary = resolved.vary { fields.append(.vary, vary) }
        if !request.hintFields.isEmpty {
            let names = request.hintFields.names.joined(separator: ", ")
            fields.append(.acceptCH, names)
            fields.append(.criticalCH, names)
        }
        fields.append(
            .contentDisposition, FileName(of: request).contentDisposition(fileExtension: format.fileExtension))
        if let cacheTagField, let tags = cacheTagField.value(resolved) { fields.append(cacheTagField.name, tags) }
        if !thumbnail.cacheStatus.isEmpty {
            fields.append(.cacheStatus, CacheStatusText.text(thumbnail.cacheStatus))
        }
        return fields
    }

    /// - Parameter secondsLeft: The seconds until the target expires, which limit `max-age`.
    func cacheControl(of thumbnail: Thumbnail, as form: ResponseForm, secondsLeft: Int? = nil) -> String {
        var freshness = thumbnail.freshness
        let isShared = freshness.storability == .shared
        if isShared, secondsLeft == nil, let requested = form.cacheControl { return requested.string }
        if isShared, let age = form.maximumAge { freshness.lifetime = age }
        return freshness.cacheControl(secondsLeft: secondsLeft, staleAge: form.staleAge)
    }
}

extension HTTPFields {
    mutating func append(findingsOf thumbnail: Thumbnail) {
        if thumbnail.isIncomplete { append(.alulaIncomplete, "1") }
        if let gainMap = thumbnail.gainMap { append(.alulaHDR, gainMap.done) }
        if let quality = thumbnail.image.quality { append(.alulaQuality, String(quality)) }
    }

    /// Adds the size in pixels in fields that some services use.
    mutating func append(sizeOf image: EncodedImage) {
        append(.imageWidth, String(image.size.width))
        append(.imageHeight, String(image.size.height))
    }
}

enum CacheStatusText {
    /// Formats a member for each layer, in order: `alula-result;fwd=uri-miss;stored, alula-decoded;hit`.
    static func text(_ layers: [CacheLayerStatus]) -> String {
        var text = ""
        for layer in layers {
            if !text.isEmpty { text += ", " }
            text += layer.layer.rawValue
            text += ";"
            text += layer.outcome.rawValue
            if let status = layer.forwardStatus { text += ";fwd-status=\(status)" }
            if let seconds = layer.timeToLive { text += ";ttl=\(seconds)" }
            if layer.isStored { text += ";stored" }
            if layer.isCollapsed { text += ";collapsed" }
        }
        return text
    }
}
