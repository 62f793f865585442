extension Color {
    /// The colour that `text` names: `rgb`, `rrggbb` or `rrggbbaa` in hexadecimal digits without a `#`, or a CSS colour name.
    ///
    /// Upper and lower case are the same. Nil for anything else.
    package init?(parsing text: String) {
        // Some characters outside ASCII have ASCII lower case.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let name = text.lowercased()
        if name == "transparent" {
            self = .transparent
        } else if let named = Color.names[name] {
            self.init(redGreenBlueAlpha: named << 8 | 0xFF)
        } else {
            self.init(hexadecimal: name)
        }
    }

    private init?(hexadecimal text: String) {
        let digits = text.utf8.prefix(9).compactMap { Color.digit($0) }
        guard digits.count == text.utf8.count else { return nil }
        let number = digits.reduce(0 as UInt64) { $0 << 4 | UInt64($1) }
        switch digits.count {
        case 3: self.init(red: digits[0] * 17, green: digits[1] * 17, blue: digits[2] * 17)
        case 6: self.init(redGreenBlueAlpha: UInt32(number) << 8 | 0xFF)
        case 8: self.init(redGreenBlueAlpha: UInt32(number))
        default: return nil
        }
    }

    private init(redGreenBlueAlpha value: UInt32) {
        self.init(
            red: UInt8(truncatingIfNeeded: value >> 24), green: UInt8(truncatingIfNeeded: value >> 16),
            blue: UInt8(truncatingIfNeeded: value >> 8), alpha: UInt8(truncatingIfNeeded: value))
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
