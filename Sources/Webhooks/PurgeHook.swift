package import Downloading
package import HTTPTypes
import JSON
import Text
import ThumbnailTypes

/// A request sent after each purge, to purge caches in front of the service too.
package struct PurgeHook: Sendable {
    package struct Fault: Error, Equatable {
        package let member: String
        package let allowed: String
    }

    /// Maximum bytes of a URL with its values.
    static let maximumURLBytes = 16 << 10
    /// The maximum number of tags per call (Cloudflare's limit).
    static let maximumTags = 30

    private let url: HookTemplate
    private let method: HTTPRequest.Method
    private let fields: [(name: HTTPField.Name, text: HookTemplate)]
    private let secrets: [(name: HTTPField.Name, value: Secret)]
    private let body: HookTemplate?
    private let isForEverythingOnly: Bool

    /// - Parameters:
    ///   - url: May contain placeholders in its path and query.
    ///   - method: Nil means `POST`.
    ///   - fields: May contain placeholders.
    ///   - secrets: Fields that are sent unchanged.
    ///   - isForEverythingOnly: Whether to call the hook only after a purge of everything.
    ///   - body: JSON if `Content-Type` says so or, without that field, if it begins like JSON.
    package init(
        url: String, method: String? = nil, fields: [(name: HTTPField.Name, value: String)] = [],
        secrets: [(name: HTTPField.Name, value: Secret)] = [], body: String? = nil, isForEverythingOnly: Bool = false
    ) throws(Fault) {
        self.isForEverythingOnly = isForEverythingOnly
        self.url = HookTemplate(url, in: .url)
        self.method = method.map { HTTPRequest.Method(rawValue: $0) } ?? .post
        var fields = fields
        let isJSON: Bool
        if let type = fields.first(where: { $0.name == .contentType })?.value {
            let subtype = MediaType(type)?.subtype ?? ""
            isJSON = subtype == "json" || subtype.hasSuffix("+json")
        } else {
            isJSON = body?.first { !$0.isWhitespace }.map { $0 == "{" || $0 == "[" } ?? false
            if body != nil, !secrets.contains(where: { $0.name == .contentType }) {
                fields.append((.contentType, isJSON ? "application/json" : "text/plain; charset=utf-8"))
            }
        }
        self.fields = fields.map { ($0.name, HookTemplate($0.value, in: .field)) }
        self.secrets = secrets
        self.body = body.map { HookTemplate($0, in: isJSON ? .json : .text) }
        try validate(isJSON: isJSON)
    }

    private func validate(isJSON: Bool) throws(Fault) {
        let allowedURL =
            "an absolute http or https URL without user and fragment, with {url}, {tags} and {tag} in its path or query"
        let components = url.literalPrefix.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        if isForEverythingOnly, HookTemplate.Value.allCases.contains(where: has) {
            throw Fault(member: "on", allowed: "any, for a hook with placeholders")
        }
        let hasLiteralAuthority = components.count > 3 || !HookTemplate.Value.allCases.contains { url.has($0) }
        let sample = PurgeReport(url: "https://example.com/\"", tags: ["a", "b"])
        guard hasLiteralAuthority,
            let text = url.filled(with: sample, tag: "a").map({ String(decoding: $0, as: UTF8.self) }),
            !text.contains("#"), (try? SourceURL(parsing: text)) != nil
        else { throw Fault(member: "url", allowed: allowedURL) }
        guard !method.rawValue.isEmpty, method.rawValue.utf8.allSatisfy(HTTPSyntax.isToken) else {
            throw Fault(member: "method", allowed: "a method such as POST, PURGE or BAN")
        }
        if isJSON, let body = body?.filled(with: sample, tag: "a"), (try? JSONReader.value(in: body)) == nil {
            throw Fault(member: "body", allowed: "JSON once {url}, {tags} and {tag} are filled in")
        }
    }

    /// Splits a purge: one report per source if the hook uses the URL, otherwise batches of tags.
    func reports(of purge: CompletedPurge) -> [PurgeReport] {
        if isForEverythingOnly, !purge.isOfEverything { return [] }
        if has(.url) {
            return purge.sources.map { PurgeReport(url: $0, tags: purge.tags + [CacheTag.ofSource(named: $0)]) }
        }
        guard has(.tag) || has(.tags) else { return [PurgeReport()] }
        let tags = purge.allTags
        return stride(from: 0, to: tags.count, by: Self.maximumTags).map {
            PurgeReport(tags: Array(tags[$0..<min($0 + Self.maximumTags, tags.count)]))
        }
    }

    private func has(_ value: HookTemplate.Value) -> Bool { texts.contains { $0.has(value) } }

    private var texts: [HookTemplate] { [url] + fields.map(\.text) + [body].compactMap { $0 } }

    /// The calls for a report: one, or one per tag if the hook uses `{tag}`; none if a value is missing.
    func calls(for purge: PurgeReport) -> [OutgoingCall] {
        guard has(.tag) else { return [call(for: purge, tag: nil)].compactMap { $0 } }
        return purge.tags.compactMap { call(for: purge, tag: $0) }
    }

    private func call(for purge: PurgeReport, tag: String?) -> OutgoingCall? {
        guard let url = url.filled(with: purge, tag: tag).map({ String(decoding: $0, as: UTF8.self) }),
            url.utf8.count <= Self.maximumURLBytes, !DotSegments.areIn(Self.path(of: url))
        else { return nil }
        var headerFields: HTTPFields = [:]
        for (name, text) in fields {
            guard let value = text.filled(with: purge, tag: tag), value.allSatisfy({ !$0.isASCIIControl }) else {
                return nil
            }
            headerFields.append(name, String(decoding: value, as: UTF8.self))
        }
        for (name, value) in secrets { headerFields.append(name, value.text) }
        guard let body else { return OutgoingCall(url: url, method: method, fields: headerFields) }
        return body.filled(with: purge, tag: tag).map {
            OutgoingCall(url: url, method: method, fields: headerFields, body: $0)
        }
    }

    private static func path(of url: String) -> Substring {
        let components = url.prefix(before: UInt8(ascii: "?")).split(
            separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return components.count > 3 ? components[3] : ""
    }
}
