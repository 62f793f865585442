/// Numbers in options and filters, read from their bytes.
enum ThumborNumber {
    /// Digits without a sign, clipped to what an `Int` holds; nil for other text and above `most`.
    static func whole(_ text: some Collection<UInt8>, most: Int) -> Int? {
        guard !text.isEmpty else { return nil }
        var value = 0
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = min(value, (.max - 9) / 10) * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value <= most ? value : nil
    }

    /// Digits with or without a minus, at most `most` away from 0.
    static func signed(_ text: some Collection<UInt8>, most: Int) -> Int? {
        guard text.first == UInt8(ascii: "-") else { return whole(text, most: most) }
        return whole(text.dropFirst(), most: most).map { -$0 }
    }

    /// A number with or without a minus and decimals, in millionths, at most a billion away from 0; further decimals
    /// are dropped.
    static func millionths(_ text: some Collection<UInt8>) -> Int? {
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = Array(isNegative ? text.dropFirst() : text.dropFirst(0))
        let point = digits.firstIndex(of: UInt8(ascii: ".")) ?? digits.endIndex
        let decimals = digits[min(point + 1, digits.endIndex)...]
        guard point > 0 || !decimals.isEmpty else { return nil }
        guard let number = point == 0 ? 0 : whole(digits[..<point], most: 1_000_000_000),
            decimals.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        var value = number * 1_000_000
        var unit = 100_000
        for digit in decimals.prefix(6) {
            value += Int(digit - UInt8(ascii: "0")) * unit
            unit /= 10
        }
        return isNegative ? -value : value
    }
}
