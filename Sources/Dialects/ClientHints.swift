package import HTTPTypes
import Text
package import ThumbnailTypes

/// The hints in the request fields that the dialect read.
///
/// Part of the cache key of a parsed target, so it contains nothing else. A value above its limit is clipped; one below
/// its limit, or malformed, counts as absent.
package struct ClientHints: Hashable, Sendable {
    private(set) var width: Int?
    private(set) var ratio: Int?
    private(set) var savesData = false
    /// Prefers the newer name of a field; the older one counts if that is absent or invalid.
    package private(set) var fields: HintFields = []

    package init() {}

    package init(_ fields: HTTPFields, reading requested: HintFields = .all) {
        if requested.contains(.secWidth) { width = read(fields, named: [.secWidth, .width], by: Self.width) }
        if requested.contains(.secRatio) { ratio = read(fields, named: [.secRatio, .ratio], by: Self.ratio) }
        if requested.contains(.saveData) {
            savesData = read(fields, named: [.saveData]) { $0 == "on" ? true : nil } ?? false
        }
    }

    package func only(_ requested: HintFields) -> ClientHints {
        var hints = ClientHints()
        if requested.contains(.secWidth) {
            hints.width = width
            hints.fields = fields.intersection(.widths)
        }
        if requested.contains(.secRatio) {
            hints.ratio = ratio
            hints.fields.formUnion(fields.intersection(.ratios))
        }
        if requested.contains(.saveData) {
            hints.savesData = savesData
            hints.fields.formUnion(fields.intersection(.saveData))
        }
        return hints
    }

    /// Skips the values if there are none, as in most targets.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(fields.rawValue)
        guard !fields.isEmpty else { return }
        hasher.combine(width)
        hasher.combine(ratio)
        hasher.combine(savesData)
    }

    private mutating func read<Value>(
        _ fields: HTTPFields, named names: [HintFields], by parse: (String) -> Value?
    ) -> Value? {
        for name in names {
            self.fields.insert(name)
            if let value = name.name.flatMap({ fields[$0] }).flatMap(parse) { return value }
        }
        return nil
    }

    private static func width(_ text: String) -> Int? {
        guard isDigits(text), text.utf8.count <= 15 else { return nil }
        return Int(text).flatMap { $0 >= 1 ? min($0, 16_384) : nil }
    }

    private static func ratio(_ text: String) -> Int? {
        let whole = text.prefix(before: UInt8(ascii: "."))
        let decimals = text.suffix(after: UInt8(ascii: "."))
        guard isDigits(whole), whole.utf8.count <= 12, decimals.map({ isDigits($0) && $0.utf8.count <= 3 }) ?? true,
            let ones = Int(whole),
            let thousandths = Int((decimals ?? "") + String(repeating: "0", count: 3 - (decimals?.utf8.count ?? 0)))
        else { return nil }
        let ratio = 1_000 * ones + thousandths
        return ratio >= 500 ? min(ratio, 8_000) : nil
    }

    private static func isDigits(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(\.isASCIIDigit)
    }
}
