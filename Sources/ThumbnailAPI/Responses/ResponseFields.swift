import Dialects
import HTTPTypes
import Recipes
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// Assembles the fields of successful responses with images or facts, in the order in which they are sent.
struct ResponseFields: Sendable {
    private static let maximumCount = 23
    let common: HTTPFields
    let cacheTagField: CacheTagField?

    /// Returns the fields that do not depend on the time, because the target never expires.
    ///
    /// - Parameter written: A body that replaces the image; the caller adds its media type and entity tag.
    func lasting(_ thumbnail: Thumbnail, to resolved: ResolvedRequest, written: WrittenResponse?) -> HTTPFields {
        let request = resolved.request
        let image = thumbnail.image
        var fields = common(for: resolved)
        fields.reserveCapacity(Self.maximumCount)
        if written == nil {
            fields.append(.contentType, image.format.mediaType)
            fields.append(.eTag, thumbnail.eTag)
        }
        fields.append(findingsOf: thumbnail)
        if request.form.includesSize, written == nil { fields.append(sizeOf: image) }
        if let date = thumbnail.lastModified { fields.append(.lastModified, date.imfFixdate) }
        fields.append(.cacheControl, cacheControl(of: thumbnail, as: request.form))
        if let vary = resolved.vary { fields.append(.vary, vary) }
        if !request.hintFields.isEmpty {
            let names = request.hintFields.names.joined(separator: ", ")
            fields.append(.acceptCH, names)
            fields.append(.criticalCH, names)
        }
        if written == nil { fields.append(.contentDisposition, FileName(of: request).contentDisposition(image.format)) }
        appendTags(of: resolved, to: &fields)
        if !thumbnail.cacheStatus.isEmpty { fields.append(.cacheStatus, CacheStatusText.text(thumbnail.cacheStatus)) }
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

    /// Returns the fields for an uploaded image, which no cache may store.
    func upload(
        _ thumbnail: Thumbnail, to request: Request, written: WrittenResponse?, receipt: String
    ) -> HTTPFields {
        let image = thumbnail.image
        var fields = common
        fields.append(.contentType, written?.mediaType ?? image.format.mediaType)
        if written == nil { fields.append(.eTag, thumbnail.eTag) }
        if request.form.includesSize, written == nil { fields.append(sizeOf: image) }
        fields.append(findingsOf: thumbnail)
        fields.append(.cacheControl, "private, no-store")
        if let vary = request.vary { fields.append(.vary, vary) }
        if written == nil { fields.append(.contentDisposition, FileName(source: "").contentDisposition(image.format)) }
        fields.append(.cacheStatus, CacheStatusText.text(thumbnail.cacheStatus))
        fields.append(.alulaReceipt, receipt)
        return fields
    }

    func renditions(
        of resolved: ResolvedRequest, isUpload: Bool, mediaType: String, failure: (any ServiceError)?, receipt: String
    ) -> HTTPFields {
        var fields = common(for: resolved)
        fields.append(.cacheControl, isUpload ? "private, no-store" : "no-store")
        fields.append(.vary, (["Accept"] + resolved.forwardedNames.map(\.rawName)).joined(separator: ", "))
        fields.append(.alulaReceipt, receipt)
        fields.append(.contentType, mediaType)
        if let seconds = failure?.retryAfter { fields.append(.retryAfter, String(seconds)) }
        return fields
    }

    /// - Parameter secondsLeft: The seconds until the target expires.
    func facts(
        _ facts: SourceFacts, to resolved: ResolvedRequest, mediaType: String, eTag: String, secondsLeft: Int?
    ) -> HTTPFields {
        let forwarded = resolved.forwardedNames
        var fields = common(for: resolved)
        fields.append(.contentType, mediaType)
        fields.append(.eTag, eTag)
        if let date = facts.lastModified { fields.append(.lastModified, date.imfFixdate) }
        fields.append(.cacheControl, facts.freshness.cacheControl(secondsLeft: secondsLeft))
        if !forwarded.isEmpty { fields.append(.vary, forwarded.map(\.rawName).joined(separator: ", ")) }
        fields.append(.cacheStatus, CacheStatusText.text(facts.cacheStatus))
        if let age = facts.freshness.age { fields.append(.age, String(age)) }
        appendTags(of: resolved, to: &fields)
        return fields
    }

    /// Other sites may not embed an image that depends on fields of the client.
    private func common(for resolved: ResolvedRequest) -> HTTPFields {
        resolved.forwardedNames.isEmpty ? common : common.restrictedToSite()
    }

    private func appendTags(of resolved: ResolvedRequest, to fields: inout HTTPFields) {
        if let cacheTagField, let tags = cacheTagField.value(resolved) { fields.append(cacheTagField.name, tags) }
    }
}

extension HTTPFields {
    /// Adds the size in pixels in fields that some services use.
    mutating func append(sizeOf image: EncodedImage) {
        append(.imageWidth, String(image.size.width))
        append(.imageHeight, String(image.size.height))
    }

    fileprivate mutating func append(findingsOf thumbnail: Thumbnail) {
        if thumbnail.isIncomplete { append(.alulaIncomplete, "1") }
        if let gainMap = thumbnail.gainMap { append(.alulaHDR, gainMap.done) }
        if let quality = thumbnail.image.quality { append(.alulaQuality, String(quality)) }
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
