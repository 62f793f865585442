import Glibc
import Recipes

extension RawSpan {
    func byte(at offset: Int) throws(ImagingError) -> Int {
        try check(offset, count: 1)
        return Int(unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self))
    }

    func bigEndian16(at offset: Int) throws(ImagingError) -> Int {
        try check(offset, count: 2)
        return Int(UInt16(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }

    func bigEndian32(at offset: Int) throws(ImagingError) -> Int {
        try check(offset, count: 4)
        return Int(UInt32(bigEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    func bigEndian(_ count: Int, at offset: Int) throws(ImagingError) -> Int {
        var number = 0
        for index in 0..<count {
            guard number < 1 << 48 else { throw .cannotDecode(detail: "a number is larger than any file") }
            number = try number << 8 | byte(at: offset + index)
        }
        return number
    }

    func littleEndian16(at offset: Int) throws(ImagingError) -> Int {
        try check(offset, count: 2)
        return Int(UInt16(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }

    func littleEndian24(at offset: Int) throws(ImagingError) -> Int {
        try littleEndian16(at: offset) | byte(at: offset + 2) << 16
    }

    func littleEndian32(at offset: Int) throws(ImagingError) -> Int {
        try check(offset, count: 4)
        return Int(UInt32(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    func integer16(at offset: Int, isLittleEndian: Bool) throws(ImagingError) -> Int {
        try isLittleEndian ? littleEndian16(at: offset) : bigEndian16(at: offset)
    }

    func integer32(at offset: Int, isLittleEndian: Bool) throws(ImagingError) -> Int {
        try isLittleEndian ? littleEndian32(at: offset) : bigEndian32(at: offset)
    }

    func hasText(_ text: StaticString, at offset: Int) -> Bool {
        guard offset >= 0, offset <= byteCount - text.utf8CodeUnitCount else { return false }
        return unsafe withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return text.utf8CodeUnitCount == 0 }
            return unsafe memcmp(base + offset, text.utf8Start, text.utf8CodeUnitCount) == 0
        }
    }

    /// Returns whether a chunk has a name; zeros are unknown bytes of a partial file.
    func hasChunk(at offset: Int) -> Bool { (try? bigEndian32(at: offset)).map { $0 != 0 } ?? false }

    func hasBytes(_ expected: [UInt8], at offset: Int) -> Bool {
        expected.indices.allSatisfy { (try? byte(at: offset + $0)) == Int(expected[$0]) }
    }

    /// Uses memchr, which is ten times as fast as a loop: entropy-coded data are most of a file.
    func firstIndex(of byte: UInt8, from offset: Int) -> Int? {
        guard offset >= 0, offset < byteCount else { return nil }
        return unsafe withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress,
                let position = unsafe memchr(base + offset, Int32(byte), bytes.count - offset)
            else { return nil }
            return unsafe UnsafeRawPointer(position) - base
        }
    }

    /// Returns the rest of a range that begins with a text; nil if it does not.
    func rest(of range: Range<Int>, after text: StaticString) -> Range<Int>? {
        hasText(text, at: range.lowerBound) ? range.dropFirst(text.utf8CodeUnitCount) : nil
    }

    /// Returns whether the range contains the text, which must not be empty.
    func contains(_ text: StaticString, in range: Range<Int>) -> Bool {
        var offset = range.lowerBound
        while let position = firstIndex(of: unsafe text.utf8Start.pointee, from: offset),
            position <= range.upperBound - text.utf8CodeUnitCount
        {
            if hasText(text, at: position) { return true }
            offset = position + 1
        }
        return false
    }

    func array(_ range: Range<Int>) -> [UInt8] {
        unsafe extracting(range.clamped(to: 0..<byteCount)).withUnsafeBytes { unsafe Array($0) }
    }

    /// Returns a copy of a range; throws if it exceeds the file.
    func checkedArray(_ range: Range<Int>) throws(ImagingError) -> [UInt8] {
        try check(range.lowerBound, count: range.count)
        return array(range)
    }

    private func check(_ offset: Int, count: Int) throws(ImagingError) {
        guard offset >= 0, offset <= byteCount - count else {
            throw .cannotDecode(detail: "the file ends before byte \(offset)")
        }
    }
}

/// Reads numbers in copied bytes of a file; zero after their end.
extension [UInt8] {
    func number(_ range: Range<Int>, isLittleEndian: Bool = false) -> Int {
        let bytes = self[range.clamped(to: indices)]
        return isLittleEndian
            ? bytes.reversed().reduce(0) { $0 << 8 | Int($1) } : bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    func short(_ offset: Int, isLittleEndian: Bool = false) -> Int {
        number(offset..<offset + 2, isLittleEndian: isLittleEndian)
    }

    func long(_ offset: Int, isLittleEndian: Bool = false) -> Int {
        number(offset..<offset + 4, isLittleEndian: isLittleEndian)
    }

    func hasText(_ text: StaticString, at offset: Int = 0) -> Bool {
        unsafe withUnsafeBytes { unsafe $0.bytes.hasText(text, at: offset) }
    }
}
