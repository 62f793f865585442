/// Paths and queries in the one spelling that signatures are made over (AWS Signature Version 4, canonical requests).
enum SignedReference {
    /// The path below the base, every segment escaped once; nothing leads out of the base, whose key signs more than that.
    static func path(basePath: String, _ reference: Substring) throws(SourceURLError) -> String {
        guard !reference.hasPrefix("/"), let key = URLEscapes.decoded(reference) else { throw .malformed }
        let segments = key.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isConfined = segments.allSatisfy { !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
        guard isConfined else { throw .malformed }
        return basePath + segments.map { URLEscapes.escaped($0) }.joined(separator: "/")
    }

    /// The parameters escaped and in order; one without a value gets an empty one, and a plus is a plus.
    static func query(_ reference: Substring) throws(SourceURLError) -> String {
        var parameters: [(name: String, value: String)] = []
        for parameter in reference.split(separator: "&") {
            let name = parameter.prefix { $0 != "=" }
            guard let decodedName = URLEscapes.decoded(name),
                let decodedValue = URLEscapes.decoded(parameter.dropFirst(name.count + 1))
            else { throw .malformed }
            parameters.append((URLEscapes.escaped(decodedName), URLEscapes.escaped(decodedValue)))
        }
        return parameters.sorted { $0 < $1 }.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }
}
