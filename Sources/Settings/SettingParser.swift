import Coordination
import Crypto
import Dialects
import Downloading
import Glibc
import HTTPServing
import HTTPTypes
import Recipes
import Text

package struct InvalidValue: Error, Equatable {
    package let allowed: String
}

package struct SettingParser<Value>: Sendable {
    package let parse: @Sendable (String) throws(InvalidValue) -> Value

    init(_ parse: @escaping @Sendable (String) throws(InvalidValue) -> Value) { self.parse = parse }

    func map<Other>(_ transform: @escaping @Sendable (Value) -> Other) -> SettingParser<Other> {
        SettingParser<Other> { (text) throws(InvalidValue) in transform(try parse(text)) }
    }

    func map<Other>(allowed: String, _ transform: @escaping @Sendable (Value) -> Other?) -> SettingParser<Other> {
        SettingParser<Other> { (text) throws(InvalidValue) in
            guard let value = transform(try parse(text)) else { throw InvalidValue(allowed: allowed) }
            return value
        }
    }

    init(allowed: String, _ parse: @escaping @Sendable (String) -> Value?) {
        self = SettingParser<String> { $0 }.map(allowed: allowed, parse)
    }

    static func named(_ values: [ExactText: Value], allowed: String) -> Self where Value: Sendable {
        Self(allowed: allowed) { values[ExactText($0)] }
    }

    static func list<Member>(allowed: String, _ parse: @escaping @Sendable (String) -> Member?) -> Self
    where Value == [Member] {
        SettingParser<[String]>.members.map(allowed: allowed) { members in
            let values = members.compactMap(parse)
            return values.count == members.count ? values : nil
        }
    }

    static func set<Member: SendableMetatype>(_ list: SettingParser<[Member]>) -> Self where Value == Set<Member> {
        list.map { Set($0) }
    }
}

extension SettingParser where Value == Int {
    package static func integer(in range: ClosedRange<Int>) -> Self {
        Self(allowed: "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) && !text.hasPrefix("+") ? $0 : nil }
        }
    }

    /// A size in bytes: `512`, `64KiB`, `100MiB`, `2GiB`.
    static var byteSize: Self {
        Self(allowed: "a size such as 512, 64KiB, 100MiB or 2GiB") { text in
            let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)]
            let unit = units.first { text.hasSuffix($0.0) }
            guard let count = shortNumber(text.dropLast(unit?.0.count ?? 0)), count <= Int.max >> 34 else { return nil }
            return count << (unit?.1 ?? 0)
        }
    }

    /// A duration in whole seconds, the unit of HTTP's freshness.
    static var seconds: Self { SettingParser<Duration>.duration.map { Int($0.components.seconds) } }
}

extension SettingParser where Value == mode_t {
    /// File permissions in octal, such as `0660`.
    static var mode: Self {
        Self(allowed: "permissions in octal, such as 0660") { text in
            (3...4).contains(text.utf8.count) ? mode_t(text, radix: 8).flatMap { $0 <= 0o777 ? $0 : nil } : nil
        }
    }
}

extension SettingParser where Value == Duration {
    /// A duration: `250ms`, `3s`, `10m`, `24h`.
    static var duration: Self {
        Self(allowed: "a duration such as 250ms, 3s, 10m or 24h") { text in
            let units: [(String, Duration)] = [
                ("ms", .milliseconds(1)), ("s", .seconds(1)), ("m", .seconds(60)), ("h", .seconds(3_600)),
            ]
            guard let unit = units.first(where: { text.hasSuffix($0.0) }),
                let count = shortNumber(text.dropLast(unit.0.count)), count <= 1_000_000_000
            else { return nil }
            return unit.1 * count
        }
    }

    static func duration(maximumSeconds: Int) -> Self {
        duration.map(allowed: "a duration from 1ms to \(maximumSeconds)s") {
            $0 > .zero && $0 <= .seconds(maximumSeconds) ? $0 : nil
        }
    }
}

extension SettingParser where Value == Quota {
    /// An amount and the time in which it may be used; the number before the unit of time may be missing.
    static func quota(of amount: SettingParser<Int>, example: String) -> Self {
        Self(allowed: "an amount and a time of at most 31 days, such as \(example)") { text in
            let fields = text.split(separator: "/", omittingEmptySubsequences: false)
            guard fields.count == 2, let amount = try? amount.parse(String(fields[0])), amount > 0 else { return nil }
            let time = fields[1].first?.isNumber == true ? String(fields[1]) : "1" + fields[1]
            guard let window = try? SettingParser<Duration>.duration.parse(time), window >= .seconds(1),
                window <= .seconds(31 * 86_400)
            else { return nil }
            return Quota(amount, per: window)
        }
    }
}

extension SettingParser where Value == Bool {
    static var flag: Self { named(["on": true, "true": true, "off": false, "false": false], allowed: "on or off") }
}

extension SettingParser where Value: RawRepresentable & CaseIterable & SendableMetatype, Value.RawValue == String {
    static var choice: Self {
        let names = Value.allCases.map(\.rawValue)
        let others = names.dropLast().joined(separator: ", ")
        return Self(allowed: "\(others) or \(names.last ?? "")") { Value(rawValue: $0) }
    }
}

extension SettingParser where Value == String {
    static func text(allowed: String, _ isAllowed: @escaping @Sendable (String) -> Bool) -> Self {
        Self(allowed: allowed) { isAllowed($0) ? $0 : nil }
    }

    /// `*`, or one origin as browsers send it in `Origin` (RFC 6454, 6.2): lowercase, without path and default port.
    static var webOrigin: Self {
        text(allowed: "* or one origin without a slash at its end, such as https://www.example.com") { text in
            if text == "*" || text == "null" { return true }
            let port = text.prefix(before: UInt8(ascii: ":")) == "https" ? ":443" : ":80"
            guard let origin = try? SourceURL(parsing: text).origin.description else { return false }
            return origin.isExactly(text + port)
                || origin.isExactly(text) && !origin.isExactly(text.dropLast(port.utf8.count) + port)
        }
    }
}

extension SettingParser where Value == [UInt8] {
    static func bytes(atLeast minimum: Int = 0) -> Self {
        Self(allowed: "at least \(minimum) characters") { $0.utf8.count < minimum ? nil : Array($0.utf8) }
    }
}

extension SettingParser where Value == [[UInt8]] {
    package static var keys: Self {
        list(allowed: "hexadecimal keys of at least 32 bytes (64 digits), separated by commas") { member in
            Hexadecimal.decode(member).flatMap { $0.count >= 32 ? $0 : nil }
        }
    }

    static var hexadecimal: Self {
        list(allowed: "hexadecimal digits, in pairs; several separated by commas") { Hexadecimal.decode($0) }
    }
}

extension SettingParser where Value == [Int] {
    static func integers(in range: ClosedRange<Int>) -> Self {
        Self { (text) throws(InvalidValue) in
            let numbers = try SettingParser<[String]>.members.parse(text).map { (member) throws(InvalidValue) in
                try SettingParser<Int>.integer(in: range).parse(member)
            }
            guard !numbers.isEmpty else { throw InvalidValue(allowed: "numbers with commas between them") }
            return numbers.sorted()
        }
    }
}

extension SettingParser where Value == [String] {
    static var members: Self {
        Self(allowed: "a list with one comma between its members, and none at its ends") { text in
            if text.trimmingSpaces.isEmpty { return [] }
            let members = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingSpaces }
            return members.contains("") ? nil : members
        }
    }
}

extension SettingParser where Value == [ExactText] {
    static var names: Self { SettingParser<[String]>.members.map { $0.map { ExactText($0) } } }
}

extension SettingParser where Value == [ImageFormat] {
    static func formats(of allowed: [ImageFormat] = ImageFormat.written) -> Self {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        return list(allowed: "formats separated by commas, out of \(names)") { name in
            ImageFormat(name: name).flatMap { allowed.contains($0) ? $0 : nil }
        }
        .map(allowed: "formats separated by commas, out of \(names)") {
            Set($0).count == $0.count ? $0 : nil
        }
    }
}

extension SettingParser where Value == [AddressNetwork] {
    static var networks: Self {
        list(allowed: "networks such as 127.0.0.0/8 or fd00::/8, separated by commas") { AddressNetwork($0) }
    }
}

extension SettingParser where Value == SourceURL {
    static func endpoint(example: String) -> Self {
        Self(allowed: "an absolute http or https URL, such as \(example)") { text in
            text.contains("#") ? nil : try? SourceURL(parsing: text)
        }
    }
}

extension SettingParser where Value == SourceBase {
    /// A URL prefix, or the name of an origin with its colon.
    static var sourceBase: Self {
        Self(allowed: "a beginning of URLs such as https://example.com/photos/, or NAME: of an origin") { text in
            text.isEmpty || text.utf8.contains(UInt8(ascii: ":")) ? SourceBase(text) : nil
        }
    }
}

extension SettingParser where Value == PathPrefix {
    static func path(example: String) -> Self { Self(allowed: "/ or a path such as \(example)") { PathPrefix($0) } }
}

extension SettingParser where Value == (address: Substring, port: UInt16) {
    /// `ADDRESS:PORT`, where the address may be missing.
    static func addressAndPort(examples: String) -> Self {
        Self(allowed: "an address and a port such as \(examples)") { text in
            guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
                let port = UInt16(text[text.utf8.index(after: colon)...])
            else { return nil }
            return (text[..<colon], port)
        }
    }
}

extension SettingParser where Value == HTTPServerConfiguration {
    static var listener: Self {
        SettingParser<(address: Substring, port: UInt16)>.addressAndPort(examples: "0.0.0.0:9090 or :9090").map {
            var listener = HTTPServerConfiguration()
            var address = $0.address
            if address.hasPrefix("["), address.hasSuffix("]") { address = address.dropFirst().dropLast() }
            listener.bindAddress = address.isEmpty ? "0.0.0.0" : String(address)
            listener.port = $0.port
            listener.threads = 1
            listener.maximumConnections = 64
            return listener
        }
    }
}

private func shortNumber(_ digits: Substring) -> Int? {
    digits.utf8.count < 16 && digits.utf8.allSatisfy(\.isASCIIDigit) ? Int(digits) : nil
}

extension StringProtocol {
    var trimmingSpaces: String {
        var rest = Substring(self)
        while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return String(rest)
    }
}

extension SettingParser where Value == SourceURL {
    static var proxy: Self {
        Self(allowed: "an HTTP proxy such as http://proxy:3128") { text in
            guard let url = try? SourceURL(parsing: text), url.scheme == "http", url.path == "/" || url.path.isEmpty,
                !text.contains(where: { $0 == "?" || $0 == "#" || $0 == "@" })
            else { return nil }
            return url
        }
    }
}
