import Text

extension OriginRules {
    /// Parses a reference relative to the origin's base, which it cannot leave; drops a fragment.
    func identity(of reference: Substring) throws(SourceURLError) -> SourceIdentity {
        guard let origin else { throw .malformed }
        switch origin.location {
        case .folder, .memory:
            guard !DotSegments.areIn(reference), origin.onlyFile.map({ ExactText(reference) == $0 }) ?? true else {
                throw .pathNotAllowed
            }
            let url = try SourceURL(inFolder: origin.name, path: reference)
            return SourceIdentity(url: url, rules: self, baseLength: url.canonical.utf8.count - url.path.utf8.count + 1)
        case .web(let base):
            let path = reference.prefix(before: UInt8(ascii: "?"), UInt8(ascii: "#"))
            guard !DotSegments.areIn(path) else { throw .pathNotAllowed }
            let target = try Self.url(of: reference, base: base, in: origin)
            let baseLength = base.canonical.utf8.count - base.path.utf8.count + Self.folder(of: base).utf8.count
            guard !origin.ignoredParameters.isEmpty else {
                return SourceIdentity(url: target, rules: self, baseLength: baseLength)
            }
            guard let query = target.query else {
                return SourceIdentity(url: target, rules: self, baseLength: baseLength, sharesTargets: true)
            }
            let significant = query.split(separator: "&", omittingEmptySubsequences: false).filter { parameter in
                !origin.ignoredParameters.contains(ExactText(parameter.prefix(before: UInt8(ascii: "="))))
            }
            let key = try target.replacingQuery(with: significant.isEmpty ? nil : significant.joined(separator: "&"))
            return SourceIdentity(url: key, rules: self, baseLength: baseLength, target: target, sharesTargets: true)
        }
    }

    private static func folder(of base: SourceURL) -> String {
        base.path.utf8.last == UInt8(ascii: "/") ? base.path : base.path + "/"
    }

    private static func url(
        of reference: Substring, base: SourceURL, in origin: Origin
    ) throws(SourceURLError) -> SourceURL {
        let isClean = reference.utf8.allSatisfy { !$0.isASCIIControl && $0 != UInt8(ascii: "\\") }
        let whole = reference.prefix(before: UInt8(ascii: "#"))
        let path = whole.prefix(before: UInt8(ascii: "?"))
        let query = whole.suffix(after: UInt8(ascii: "?"))
        guard isClean, path.suffix(after: "//") == nil else { throw .malformed }
        let below = path.suffix(after: "/") ?? path
        let basePath = folder(of: base)
        let isSigned = if case .signature? = origin.credentials { true } else { false }
        var text = base.origin.description
        if isSigned {
            text += try SignedReference.path(of: below, basePath: basePath)
            if let query, !query.isEmpty { text += "?" + (try SignedReference.query(query)) }
        } else {
            text += URLEscape.escapingRest(of: basePath + below)
            if let query { text += "?" + URLEscape.escapingRest(of: String(query)) }
        }
        let url = try SourceURL(parsing: text)
        guard origin.contains(url), url.path.suffix(after: basePath) != nil else { throw .pathNotAllowed }
        return url
    }
}

enum SignedReference {
    static func path(of reference: Substring, basePath: String) throws(SourceURLError) -> String {
        guard reference.utf8.first != UInt8(ascii: "/"), let key = URLEscape.decode(reference.utf8) else {
            throw .malformed
        }
        let segments = key.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return basePath + segments.map { URLEscape.encode($0) }.joined(separator: "/")
    }

    static func query(_ reference: Substring) throws(SourceURLError) -> String {
        var parameters: [(name: String, value: String)] = []
        for parameter in reference.split(separator: "&") {
            guard let decodedName = URLEscape.decode(parameter.prefix(before: UInt8(ascii: "=")).utf8),
                let decodedValue = URLEscape.decode((parameter.suffix(after: UInt8(ascii: "=")) ?? "").utf8)
            else { throw .malformed }
            parameters.append((URLEscape.encode(decodedName), URLEscape.encode(decodedValue)))
        }
        return parameters.sorted { $0 < $1 }.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }
}
