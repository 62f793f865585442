/// The trace that services pass on (W3C Trace Context, sections 3.2 and 3.3).
package struct TraceContext: Hashable, Sendable {
    /// 16 bytes, not all zero.
    package struct TraceID: Hashable, Sendable {
        let high: UInt64
        let low: UInt64

        /// 32 lowercase hexadecimal digits.
        package var text: String { Hexadecimal16.text(high) + Hexadecimal16.text(low) }
    }

    /// 8 bytes, not all zero.
    package struct SpanID: Hashable, Sendable {
        let bits: UInt64

        /// 16 lowercase hexadecimal digits.
        package var text: String { Hexadecimal16.text(bits) }
    }

    private static let hyphen = UInt8(ascii: "-")

    package let traceID: TraceID
    package let spanID: SpanID
    package let isSampled: Bool

    init(traceID: TraceID, spanID: SpanID, isSampled: Bool) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// Later versions than 00 may have more members at the end, which are ignored (section 3.2.4).
    package init?(traceparent: String) {
        let bytes = Array(traceparent.utf8.prefix(56))
        guard bytes.count >= 55, bytes[2] == Self.hyphen, bytes[35] == Self.hyphen, bytes[52] == Self.hyphen,
            let version = Hexadecimal16.value(of: bytes[0..<2]), version != 0xff,
            version == 0 ? bytes.count == 55 : bytes.count == 55 || bytes[55] == Self.hyphen,
            let high = Hexadecimal16.value(of: bytes[3..<19]), let low = Hexadecimal16.value(of: bytes[19..<35]),
            high | low != 0, let span = Hexadecimal16.value(of: bytes[36..<52]), span != 0,
            let flags = Hexadecimal16.value(of: bytes[53..<55])
        else { return nil }
        self.init(traceID: TraceID(high: high, low: low), spanID: SpanID(bits: span), isSampled: flags & 1 == 1)
    }

    package var traceparent: String { "00-\(traceID.text)-\(spanID.text)-\(isSampled ? "01" : "00")" }
}

/// Lowercase, of a fixed length: the only form allowed in traces.
private enum Hexadecimal16 {
    private static let digits = Array("0123456789abcdef".utf8)

    static func text(_ number: UInt64) -> String {
        String(
            decoding: stride(from: 60, through: 0, by: -4).map { digits[Int(number >> UInt64($0) & 15)] }, as: UTF8.self
        )
    }

    /// Parses up to 16 hexadecimal digits; returns nil for other characters, and for uppercase.
    static func value(of text: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for byte in text {
            guard let digit = digits.firstIndex(of: byte) else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }
}
