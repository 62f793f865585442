import Text

/// Paths and queries in the one spelling that signatures are made over (AWS Signature Version 4, canonical requests).
enum SignedReference {
    /// The path below the base, every segment escaped once; the caller has refused dot segments, which would lead out of the base.
    static func path(basePath: String, _ reference: Substring) throws(SourceURLError) -> String {
        guard reference.utf8.first != UInt8(ascii: "/"), let key = URLEscapes.decoded(reference) else {
            throw .malformed
        }
        let segments = key.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return basePath + segments.map { URLEscapes.escaped($0) }.joined(separator: "/")
    }

    /// The parameters escaped and in order; one without a value gets an empty one, and a plus is a plus.
    static func query(_ reference: Substring) throws(SourceURLError) -> String {
        var parameters: [(name: String, value: String)] = []
        for parameter in reference.split(separator: "&") {
            guard let decodedName = URLEscapes.decoded(parameter.prefix(before: UInt8(ascii: "="))),
                let decodedValue = URLEscapes.decoded(parameter.suffix(after: UInt8(ascii: "=")) ?? "")
            else { throw .malformed }
            parameters.append((URLEscapes.escaped(decodedName), URLEscapes.escaped(decodedValue)))
        }
        return parameters.sorted { $0 < $1 }.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }
}
