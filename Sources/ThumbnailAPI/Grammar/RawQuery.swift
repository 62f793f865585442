/// A request target cut into its path and parameters, nothing decoded yet.
struct RawQuery {
    /// One `name=value`; a parameter without `=` has an empty value.
    struct Item {
        let name: ArraySlice<UInt8>
        let value: ArraySlice<UInt8>
    }

    /// The parameters in order; an empty query has none.
    let items: [Item]

    /// Cuts the query of `target`, which follows its first `?`.
    init(target: String) {
        let bytes = Array(target.utf8)
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")), mark + 1 < bytes.count else {
            items = []
            return
        }
        items = bytes[(mark + 1)...].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { item in
            let equals = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
            return Item(name: item[..<equals], value: item[min(equals + 1, item.endIndex)...])
        }
    }

    /// The parameters' names and values percent-decoded.
    ///
    /// - Throws: ``APIError`` for a parameter that cannot be decoded.
    func decoded() throws(APIError) -> [(name: String, value: String)] {
        var result: [(name: String, value: String)] = []
        result.reserveCapacity(items.count)
        for item in items {
            guard let name = PercentEncoding.decode(item.name) else {
                throw .unknownParameter(String(decoding: item.name.prefix(Self.longestQuotedName), as: UTF8.self))
            }
            guard let value = PercentEncoding.decode(item.value) else {
                throw name == "url"
                    ? .badURL("The value is not percent-encoded UTF-8.")
                    : .badParameter(
                        String(name.prefix(Self.longestQuotedName)), "The value is not percent-encoded UTF-8.")
            }
            result.append((name, value))
        }
        return result
    }

    /// Most characters of a parameter's name that an error repeats.
    static let longestQuotedName = 64
}
