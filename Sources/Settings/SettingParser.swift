import Dialects
import Downloading
import Imaging
import Text

struct SettingParser<Value>: Sendable {
    let parse: @Sendable (String) throws(InvalidValue) -> Value

    init(_ parse: @escaping @Sendable (String) throws(InvalidValue) -> Value) { self.parse = parse }

    func map<Other>(_ transform: @escaping @Sendable (Value) -> Other) -> SettingParser<Other> {
        SettingParser<Other> { (text) throws(InvalidValue) in transform(try parse(text)) }
    }

    /// Rejects values for which `transform` returns nil.
    func map<Other>(
        allowed: String, _ transform: @escaping @Sendable (Value) -> Other?
    ) -> SettingParser<Other> {
        SettingParser<Other> { (text) throws(InvalidValue) in
            guard let value = transform(try parse(text)) else { throw InvalidValue(allowed: allowed) }
            return value
        }
    }

    init(allowed: String, _ parse: @escaping @Sendable (String) -> Value?) {
        self.init { (text) throws(InvalidValue) in
            guard let value = parse(text) else { throw InvalidValue(allowed: allowed) }
            return value
        }
    }

    static func named(_ values: [ExactText: Value], allowed: String) -> Self where Value: Sendable {
        Self(allowed: allowed) { values[ExactText($0)] }
    }

    static func list<Member>(
        allowed: String, _ parse: @escaping @Sendable (String) -> Member?
    ) -> Self where Value == [Member] {
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
    static var byteSize: Self { Self(SettingValues.byteSize) }
    /// A duration in whole seconds.
    static var seconds: Self { Self(SettingValues.seconds) }

    static func integer(in range: ClosedRange<Int>) -> Self {
        Self { (text) throws(InvalidValue) in try SettingValues.integer(text, in: range) }
    }
}

extension SettingParser where Value == Duration {
    static var duration: Self { Self(SettingValues.duration) }

    /// A duration above zero, up to a limit.
    static func duration(maximumSeconds: Int) -> Self {
        duration.map(allowed: "a duration from 1ms to \(maximumSeconds)s") {
            $0 > .zero && $0 <= .seconds(maximumSeconds) ? $0 : nil
        }
    }
}

extension SettingParser where Value == Bool {
    static var flag: Self { Self(SettingValues.flag) }
}

extension SettingParser where Value: RawRepresentable & CaseIterable & SendableMetatype, Value.RawValue == String {
    static var choice: Self { Self(SettingValues.choice) }
}

extension SettingParser where Value == String {
    static func text(allowed: String, _ isAllowed: @escaping @Sendable (String) -> Bool) -> Self {
        Self(allowed: allowed) { isAllowed($0) ? $0 : nil }
    }
}

extension SettingParser where Value == [UInt8] {
    static func bytes(atLeast least: Int = 0) -> Self {
        Self(allowed: "at least \(least) characters") { $0.utf8.count < least ? nil : Array($0.utf8) }
    }
}

extension SettingParser where Value == [Int] {
    /// Numbers in ascending order.
    static func integers(in range: ClosedRange<Int>) -> Self {
        Self { (text) throws(InvalidValue) in try SettingValues.integers(text, in: range).sorted() }
    }
}

extension SettingParser where Value == [String] {
    static var members: Self { Self(SettingValues.list) }
}

extension SettingParser where Value == [ExactText] {
    static var names: Self { SettingParser<[String]>.members.map { $0.map { ExactText($0) } } }
}

extension SettingParser where Value == [ImageFormat] {
    static func formats(of allowed: [ImageFormat] = ImageFormat.written) -> Self {
        Self { (text) throws(InvalidValue) in try SettingValues.formats(text, of: allowed) }
    }
}

extension SettingParser where Value == [AddressNetwork] {
    static var networks: Self {
        list(allowed: "networks such as 127.0.0.0/8 or fd00::/8, separated by commas") { AddressNetwork($0) }
    }
}

extension SettingParser where Value == SourceURL {
    static func endpoint(example: String) -> Self {
        Self { (text) throws(InvalidValue) in try ExportSettings.endpoint(text, example: example) }
    }
}

extension SettingParser where Value == DialectPlace {
    static func path(usual: String) -> Self { Self(allowed: "/ or a path such as \(usual)") { DialectPlace($0) } }
}
