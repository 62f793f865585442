import Text

extension JSONReader {
    func startsNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "I"), UInt8(ascii: "N"): dialect == .json5
        default: false
        }
    }

    mutating func number() throws(Failure) -> JSONValue {
        let start = position
        let sign = take("-") ? "-" : ""
        if dialect == .json5 {
            if sign.isEmpty { _ = take("+") }
            if take(word: "0x") || take(word: "0X") { return try hexadecimal(sign, from: start) }
            if take(word: "Infinity") || take(word: "NaN") { throw outOfRange(start) }
        }
        let whole = take("0") ? "0" : try digits(mayBeNone: dialect == .json5 && peek == UInt8(ascii: "."))
        let fraction = take(".") ? try digits(mayBeNone: dialect == .json5 && !whole.isEmpty) : nil
        let power = try exponent()
        if fraction == nil, power.isEmpty, let number = Int(sign + whole) { return .int(number) }
        guard let number = Double("\(sign)0\(whole).\(fraction ?? "")0\(power)"), number.isFinite else {
            throw outOfRange(start)
        }
        return .double(number)
    }

    /// Reads at least one digit unless `mayBeNone`.
    private mutating func digits(mayBeNone: Bool = false) throws(Failure) -> String {
        let start = position
        while let byte = peek, byte.isASCIIDigit { position += 1 }
        guard position > start || mayBeNone else { throw failure("expected a digit") }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func exponent() throws(Failure) -> String {
        guard take("e") || take("E") else { return "" }
        let sign = take("-") ? "-" : ""
        if sign.isEmpty { _ = take("+") }
        return "e" + sign + (try digits())
    }

    private mutating func hexadecimal(_ sign: String, from start: Int) throws(Failure) -> JSONValue {
        let first = position
        while let byte = peek, byte.isHexadecimalDigit { position += 1 }
        guard position > first else { throw failure("expected a digit") }
        let digits = String(decoding: bytes[first..<position], as: UTF8.self)
        guard let number = Int(sign + digits, radix: 16) else { throw outOfRange(start) }
        return .int(number)
    }

    private func outOfRange(_ start: Int) -> Failure { Failure(reason: "a number out of range", offset: start) }
}
