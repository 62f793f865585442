import Text

/// Reads the URL of a source or of a redirect as wsrv.nl does: its scheme is optional.
enum WsrvSource {
    private static let shortest = 4
    private static let longestName = (host: 253, label: 63)
    static let impossible = "http://"

    /// Returns the URL, with `http` if there is no scheme, and `https` for `//` and `ssl:`.
    ///
    /// - Parameter text: The source as written in the target; it is percent-decoded once.
    static func url(_ text: ArraySlice<UInt8>) throws(APIError) -> String {
        guard text.count >= shortest else { throw .badURL("The source's URL is shorter than \(shortest) bytes.") }
        guard let decoded = URLEscape.decodeText(text) else { throw .badURL("The value is not percent-encoded UTF-8.") }
        var rest = decoded[...]
        let scheme = scheme(atStartOf: &rest)
        rest = rest.prefix(before: UInt8(ascii: "#"))
        while rest.utf8.first == UInt8(ascii: "/") { rest = rest.suffix(after: UInt8(ascii: "/")) ?? "" }
        let host = rest.prefix(before: UInt8(ascii: "/"), UInt8(ascii: "?"))
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard !host.isEmpty, host.utf8.count <= longestName.host, labels.allSatisfy({ $0.count <= longestName.label })
        else { throw .badURL("The source's URL has no host, or one with a name that is too long.") }
        let path = String(rest[host.endIndex...])
        return try ParameterGrammar.source("\(scheme)://\(host)\(path.isEmpty ? "/" : URLEscape.location(path))")
    }

    /// Removes and returns the scheme; it counts only if text follows it.
    private static func scheme(atStartOf rest: inout Substring) -> String {
        for (prefix, scheme) in [("http://", "http"), ("https://", "https"), ("ssl:", "https"), ("//", "https")] {
            let start = rest.utf8.prefix(prefix.utf8.count)
            guard rest.utf8.count > start.count, String(decoding: start, as: UTF8.self).asciiLowercased == prefix
            else { continue }
            rest = Substring(rest.utf8.dropFirst(start.count))
            return scheme
        }
        return "http"
    }
}

enum WsrvDuration {
    private static let day = 86_400
    private static let year = 365 * day
    private static let units: [(letter: UInt8, seconds: Int)] = [
        (UInt8(ascii: "y"), year), (UInt8(ascii: "M"), 30 * day), (UInt8(ascii: "w"), 7 * day),
        (UInt8(ascii: "d"), day), (UInt8(ascii: "h"), 3_600), (UInt8(ascii: "m"), 60), (UInt8(ascii: "s"), 1),
    ]

    /// Reads an age in seconds, from a day to a year; an invalid text yields a year.
    static func maximumAge(_ text: ArraySlice<UInt8>) -> Int {
        guard let seconds = seconds(text), (day...year).contains(seconds) else { return year }
        return seconds
    }

    /// Reads numbers with descending units; a last number without a unit is in seconds.
    private static func seconds(_ text: ArraySlice<UInt8>) -> Int? {
        var sum = 0
        var number = 0
        var firstUnit = 0
        var hasDigits = false
        for byte in text {
            if byte.isASCIIDigit {
                hasDigits = true
                number = min(10 * number + Int(byte - UInt8(ascii: "0")), year + 1)
                continue
            }
            guard hasDigits, let unit = units.indices.first(where: { $0 >= firstUnit && units[$0].letter == byte })
            else { return nil }
            sum = min(sum + number * units[unit].seconds, year + 1)
            number = 0
            hasDigits = false
            firstUnit = unit + 1
        }
        // No number may follow seconds.
        guard !text.isEmpty, !hasDigits || firstUnit < units.count else { return nil }
        return sum + number
    }
}
