import Crypto
import Downloading
import HTTPServing
import Imaging
import Text

/// Why a text is not a valid value of a setting.
package struct InvalidValue: Error, Equatable {
    package let allowed: String
}

package enum SettingValues {
    /// `*`, or one origin as browsers send it in `Origin` (RFC 6454 section 6.2): lowercase, without a path or default
    /// port.
    static func originOfPages(_ text: String) throws(InvalidValue) -> String {
        if text == "*" || text == "null" { return text }
        let port = text.prefix(before: UInt8(ascii: ":")) == "https" ? ":443" : ":80"
        guard let origin = try? SourceURL(parsing: text).origin.description,
            origin.isExactly(text + port)
                || origin.isExactly(text) && !origin.isExactly(text.dropLast(port.utf8.count) + port)
        else {
            throw InvalidValue(allowed: "* or one origin without a slash at its end, such as https://www.example.com")
        }
        return text
    }

    package static func integer(_ text: String, in range: ClosedRange<Int>) throws(InvalidValue) -> Int {
        guard let value = Int(text), range.contains(value), !text.hasPrefix("+") else {
            throw InvalidValue(allowed: "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// Bytes: `512`, `64KiB`, `100MiB`, `2GiB`.
    static func byteSize(_ text: String) throws(InvalidValue) -> Int {
        let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)]
        let unit = units.first { text.hasSuffix($0.0) }
        let digits = text.dropLast(unit?.0.count ?? 0)
        guard isNumber(digits), let count = Int(digits), count <= Int.max >> 34 else {
            throw InvalidValue(allowed: "a size such as 512, 64KiB, 100MiB or 2GiB")
        }
        return count << (unit?.1 ?? 0)
    }

    /// A duration: `250ms`, `3s`, `10m`, `24h`.
    static func duration(_ text: String) throws(InvalidValue) -> Duration {
        let units: [(String, Duration)] = [
            ("ms", .milliseconds(1)), ("s", .seconds(1)), ("m", .seconds(60)), ("h", .seconds(3_600)),
        ]
        guard let unit = units.first(where: { text.hasSuffix($0.0) }), case let digits = text.dropLast(unit.0.count),
            isNumber(digits), let count = Int(digits), count <= 1_000_000_000
        else { throw InvalidValue(allowed: "a duration such as 250ms, 3s, 10m or 24h") }
        return unit.1 * count
    }

    /// A duration in whole seconds, the unit of HTTP's freshness.
    static func seconds(_ text: String) throws(InvalidValue) -> Int {
        Int(try duration(text).components.seconds)
    }

    static func flag(_ text: String) throws(InvalidValue) -> Bool {
        switch text {
        case "on", "true": return true
        case "off", "false": return false
        default: throw InvalidValue(allowed: "on or off")
        }
    }

    static func choice<Value: RawRepresentable & CaseIterable>(
        _ text: String
    ) throws(InvalidValue) -> Value where Value.RawValue == String {
        guard let value = Value(rawValue: text) else {
            throw InvalidValue(allowed: Value.allCases.map(\.rawValue).joined(separator: " or "))
        }
        return value
    }

    /// A comma-separated list without empty members; an empty text is an empty list.
    static func list(_ text: String) throws(InvalidValue) -> [String] {
        if text.trimmingSpaces.isEmpty { return [] }
        let members = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingSpaces }
        guard !members.contains("") else {
            throw InvalidValue(allowed: "a list with one comma between its members, and none at its ends")
        }
        return members
    }

    /// Comma-separated whole numbers within `range`; at least one.
    static func integers(_ text: String, in range: ClosedRange<Int>) throws(InvalidValue) -> [Int] {
        var numbers: [Int] = []
        for member in try list(text) { numbers.append(try integer(member, in: range)) }
        guard !numbers.isEmpty else { throw InvalidValue(allowed: "numbers with commas between them") }
        return numbers
    }

    /// A listener for few connections at `ADDRESS:PORT`; without an address, on all addresses.
    static func listener(_ text: String) throws(InvalidValue) -> HTTPServerConfiguration {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = UInt16(text[text.utf8.index(after: colon)...])
        else { throw InvalidValue(allowed: "an address and a port such as 0.0.0.0:9090 or :9090") }
        var listener = HTTPServerConfiguration()
        var address = text[..<colon]
        if address.hasPrefix("["), address.hasSuffix("]") { address = address.dropFirst().dropLast() }
        listener.bindAddress = address.isEmpty ? "0.0.0.0" : String(address)
        listener.port = port
        listener.threads = 1
        listener.maximumConnections = 64
        return listener
    }

    /// Comma-separated image formats from `allowed`, without duplicates.
    static func formats(_ text: String, of allowed: [ImageFormat]) throws(InvalidValue) -> [ImageFormat] {
        let names = try list(text)
        let formats = names.compactMap { ImageFormat(name: $0) }.filter { allowed.contains($0) }
        guard formats.count == names.count, Set(formats).count == formats.count else {
            throw InvalidValue(
                allowed: "formats separated by commas, out of \(allowed.map(\.rawValue).joined(separator: ", "))")
        }
        return formats
    }

    /// Comma-separated hexadecimal keys of at least 32 bytes.
    package static func keys(_ text: String) throws(InvalidValue) -> [[UInt8]] {
        var keys: [[UInt8]] = []
        for member in try list(text) {
            guard let key = Hexadecimal.decode(member), key.count >= 32 else {
                throw InvalidValue(allowed: "hexadecimal keys of at least 32 bytes (64 digits), separated by commas")
            }
            keys.append(key)
        }
        return keys
    }

    private static func isNumber(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count < 16 && text.utf8.allSatisfy(\.isASCIIDigit)
    }
}

extension StringProtocol {
    /// This text without leading and trailing spaces and tabs.
    var trimmingSpaces: String {
        var rest = Substring(self)
        while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return String(rest)
    }
}

/// A memory limit: a number of bytes, or a share of the machine's memory.
package enum MemoryShare: Equatable, Sendable {
    case bytes(Int)
    case percent(Int)

    /// The smallest limit with which the service works.
    static let smallest = 16 << 20

    /// Parses `512MiB` or `60%`.
    init(_ text: String) throws(InvalidValue) {
        let number = text.hasSuffix("%") ? Int(text.dropLast().trimmingSpaces) : nil
        if let number, 1...100 ~= number {
            self = .percent(number)
        } else if let bytes = try? SettingValues.byteSize(text), bytes >= Self.smallest {
            self = .bytes(bytes)
        } else {
            throw InvalidValue(allowed: "at least 16MiB, or a share of the memory such as 60%")
        }
    }

    /// Returns the limit in bytes for a machine with `total`.
    package func byteCount(of total: Int) -> Int {
        switch self {
        case .bytes(let count): count
        case .percent(let percent): max(Self.smallest, total / 100 * percent)
        }
    }
}
