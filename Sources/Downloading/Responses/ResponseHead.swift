import HTTPTypes
import Text

struct ResponseHead {
    private static let successes: Set<Int> = [200, 201, 202, 203, 226]
    private static let genericTypes = ["application/octet-stream", "binary/octet-stream"] + SourceHead.textTypes

    /// The status code, 100…599; a 206 with the complete range counts as 200.
    let status: Int
    let fields: HTTPFields
    let contentLength: Int?

    /// Checks the body's length by RFC 9112 section 6, more strictly than libcurl.
    init(status: Int, fields: HTTPFields) throws(DownloadError) {
        self.fields = fields
        let lengths = Set(fields.values(of: .contentLength))
        let codings = fields.values(of: .transferEncoding)
        guard lengths.count <= 1 else { throw .protocolError("several different Content-Length fields") }
        guard lengths.isEmpty || codings.isEmpty else {
            throw .protocolError("both Content-Length and Transfer-Encoding")
        }
        guard codings.isEmpty || codings.count == 1 && codings[0].lowercased() == "chunked" else {
            throw .protocolError("an unsupported Transfer-Encoding")
        }
        var announced: Int?
        if let length = lengths.first {
            guard !length.isEmpty, length.utf8.allSatisfy(\.isASCIIDigit),
                let number = Int(length)
            else { throw .protocolError("an invalid Content-Length") }
            announced = number
        }
        // Some hosts respond to every request with a 206.
        let range = status == 206 ? fields.values(of: .contentRange).first.flatMap { ContentRange($0) } : nil
        let isWhole = range.map { $0.isWhole && announced ?? $0.total == $0.total } ?? false
        self.status = isWhole ? 200 : status
        contentLength = isWhole ? range?.total : announced
    }

    /// The entity tag, if there is exactly one and it is strong (RFC 9110 section 8.8.3).
    var strongETag: String? {
        let tags = fields.values(of: .eTag)
        guard tags.count == 1, let tag = tags.first, tag.utf8.count > 2, tag.hasPrefix("\""), tag.hasSuffix("\"") else {
            return nil
        }
        return tag
    }

    var contentCodings: [ContentCoding] { ContentCoding.codings(of: fields) }

    /// The directives that forbid storing the response, or using it without validation.
    ///
    /// - Parameter isPrivate: Whether a private source is redirected, so that its own freshness is not stated.
    func reuseRestrictions(ofPrivate isPrivate: Bool = false) -> Set<ExactText> {
        let control = CacheControl(fields[.cacheControl])
        var restrictions = Set<ExactText>(["no-cache", "no-store", "private"]).filter { control.contains($0.string) }
        guard isPrivate else { return restrictions }
        if !["public", "s-maxage"].contains(where: { control.contains($0) }) { restrictions.insert("private") }
        let hasLifetime = fields.contains(.expires) || ["max-age", "s-maxage"].contains { control.contains($0) }
        if !hasLifetime { restrictions.insert("no-cache") }
        return restrictions
    }

    enum Purpose: Equatable {
        case whole
        case ifChanged
        case rest(PartialBody)
        /// A range of the source at this URL; a conditional request also validates a stored source.
        case range(RequestedRange, at: String, isConditional: Bool)
        case put
    }

    enum Decision: Equatable {
        case accept
        case notModified
        case resume
        /// The response is not the missing rest: request the whole source again.
        case restart
        case redirect(String)
        case reject(DownloadError)
        case stop
    }

    /// - Parameter successes: The statuses that count as success; nil uses the usual ones.
    func decision(
        maximumBytes: Int, on purpose: Purpose = .whole, needsBody: Bool = true, successes: Set<Int>? = nil
    ) -> Decision {
        let decision = wholeDecision(maximumBytes: maximumBytes, on: purpose, successes: successes ?? Self.successes)
        if needsBody { return decision }
        if case .reject = decision { return decision }
        return .stop
    }

    private func wholeDecision(maximumBytes: Int, on purpose: Purpose, successes: Set<Int>) -> Decision {
        switch (purpose, status) {
        case (.ifChanged, 304): return .notModified
        case (.rest(let partial), 206): return partial.isContinued(by: self) ? .resume : .restart
        case (.rest, 416): return .restart
        case (.range(_, _, isConditional: true), 304): return .notModified
        case (.range(let range, let url, _), 206):
            guard range.isSatisfied(by: self, at: url) else {
                return .reject(.unexpectedResponse("the Content-Range differs from the requested range"))
            }
            return bodyDecision(maximumBytes: maximumBytes)
        // Servers that reject the range may still send the whole source.
        case (.range, 400), (.range, 405), (.range, 416), (.range, 501):
            return .reject(.unexpectedResponse("status \(status) for a range"))
        case (.put, 200...299): return .stop
        case (.put, _): return .reject(.status(status))
        default: break
        }
        // An error status without an image is still an error.
        if successes.contains(status), status < 400 || fields[.contentType].flatMap({ MediaType($0) })?.type == "image"
        {
            return bodyDecision(maximumBytes: maximumBytes)
        }
        switch status {
        case 204, 205: return .reject(.emptyBody)
        case 200, 201, 202, 203, 206, 226, 304: return .reject(.unexpectedResponse("status \(status)"))
        case 301, 302, 303, 307, 308:
            guard let location = fields.values(of: .location).first, !location.isEmpty else {
                return .reject(.unexpectedResponse("a redirect without a target"))
            }
            return .redirect(Self.text(of: location))
        case 404, 410: return .reject(.notFound(status))
        default: return .reject(.status(status))
        }
    }

    private func bodyDecision(maximumBytes: Int) -> Decision {
        guard contentCodings.count <= ContentCoding.maximumCount else {
            return .reject(.undecodable("\(contentCodings.count) nested content codings"))
        }
        if let type = fields[.contentType], !Self.canBeImage(type) { return .reject(.notAnImage(type)) }
        if let contentLength, contentLength > maximumBytes { return .reject(.tooLarge) }
        return contentLength == 0 ? .reject(.emptyBody) : .accept
    }

    /// Accepts missing, unreadable and generic types and types used for SVG: the leading bytes decide later.
    private static func canBeImage(_ value: String) -> Bool {
        guard let type = MediaType(value) else { return HTTPSyntax.trimmed(value).isEmpty }
        return type.type == "image" || genericTypes.contains(type.description)
    }

    /// Decodes non-ASCII bytes of a field value as UTF-8, which origins use in `Location`.
    private static func text(of value: String) -> String {
        String(decoding: value.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }, as: UTF8.self)
    }
}

extension ResponseHead.Purpose {
    /// - Parameter condition: The condition that validates a stored source; nil for none.
    func fields(_ condition: SourceCondition?) -> HTTPFields {
        switch self {
        case .whole, .put: [:]
        case .ifChanged: condition?.fields ?? [:]
        case .rest(let partial): partial.fields
        case .range(let range, _, let isConditional):
            HTTPFields(Array(range.fields) + Array(isConditional ? condition?.fields ?? [:] : [:]))
        }
    }
}
