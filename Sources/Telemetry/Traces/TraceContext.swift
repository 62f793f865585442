/// The place of a span in its trace, in the form in which services hand it on (W3C Trace Context, sections 3.2 and
/// 3.3).
package struct TraceContext: Hashable, Sendable {
    /// The identifier of a whole trace: 16 bytes that are not all zero.
    package struct TraceID: Hashable, Sendable {
        let high: UInt64
        let low: UInt64

        /// 32 lower-case hexadecimal digits.
        package var text: String { Hexadecimal16.text(high) + Hexadecimal16.text(low) }
    }

    /// The identifier of a span: 8 bytes that are not all zero.
    package struct SpanID: Hashable, Sendable {
        let bits: UInt64

        /// 16 lower-case hexadecimal digits.
        package var text: String { Hexadecimal16.text(bits) }
    }

    /// The trace that the request belongs to.
    package let traceID: TraceID
    /// The span in it.
    package let spanID: SpanID
    /// Whether the trace is recorded.
    package let isSampled: Bool

    init(traceID: TraceID, spanID: SpanID, isSampled: Bool) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// Reads the value of a `traceparent` field; nil if it is none.
    ///
    /// A version later than 00 may have more members at its end, which are ignored (section 3.2.4).
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

    /// The value of a `traceparent` field, of version 00.
    package var traceparent: String { "00-\(traceID.text)-\(spanID.text)-\(isSampled ? "01" : "00")" }

    private static let hyphen = UInt8(ascii: "-")
}

/// Lower-case hexadecimal numbers of a fixed length, the only form that traces know.
private enum Hexadecimal16 {
    private static let digits = Array("0123456789abcdef".utf8)

    /// All 16 digits of a number.
    static func text(_ number: UInt64) -> String {
        String(
            decoding: stride(from: 60, through: 0, by: -4).map { digits[Int(number >> UInt64($0) & 15)] }, as: UTF8.self
        )
    }

    /// The number that up to 16 digits are; nil if one is no digit or a capital.
    static func value(of text: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for byte in text {
            guard let digit = digits.firstIndex(of: byte) else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }
}
