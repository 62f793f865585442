package import Recipes

/// Returns the bytes of a range, or throws ``HeaderStop/needs(_:)`` if they have not arrived.
///
/// A stopped walk starts again when they have: it reads little, and always the same ranges.
package typealias RangeReader = (Range<Int>) throws(HeaderStop) -> [UInt8]

package enum HeaderStop: Error, Hashable {
    case needs(Range<Int>)
    case failed(ImagingError)

    /// Nil if the file is at fault.
    static func unlessFailed<Value>(_ body: () throws(HeaderStop) -> Value) throws(HeaderStop) -> Value? {
        do throws(HeaderStop) {
            return try body()
        } catch {
            if case .needs = error { throw error }
            return nil
        }
    }
}

extension RawSpan {
    /// The reader of a whole file.
    func read(_ range: Range<Int>) throws(HeaderStop) -> [UInt8] {
        guard range.lowerBound >= 0, range.upperBound <= byteCount else {
            throw .failed(.cannotDecode(detail: "the file ends before byte \(range.upperBound)"))
        }
        return array(range)
    }
}

extension [UInt8] {
    /// Zero behind the end.
    func number(_ range: Range<Int>, _ isLittleEndian: Bool) -> Int {
        let bytes = self[range.clamped(to: indices)]
        return isLittleEndian
            ? bytes.reversed().reduce(0) { $0 << 8 | Int($1) } : bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    func short(_ offset: Int, _ isLittleEndian: Bool = false) -> Int { number(offset..<offset + 2, isLittleEndian) }

    func long(_ offset: Int, _ isLittleEndian: Bool = false) -> Int { number(offset..<offset + 4, isLittleEndian) }

    func hasText(_ text: StaticString, at offset: Int = 0) -> Bool {
        unsafe withUnsafeBytes { unsafe $0.bytes.hasText(text, at: offset) }
    }
}
