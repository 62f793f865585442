import Memory
import Recipes

/// Writes boxes (ISO/IEC 14496-12 section 4.2).
enum AVIFBox {
    static func box(_ type: StaticString, _ contents: [UInt8]...) -> [UInt8] {
        let count = contents.reduce(8) { $0 + $1.count }
        return contents.reduce(into: UInt32(count).bigEndianBytes() + letters(type)) { $0 += $1 }
    }

    /// Returns a box with a version and flags.
    static func full(_ type: StaticString, version: UInt32 = 0, flags: UInt32 = 0, _ contents: [UInt8]...) -> [UInt8] {
        let content = contents.reduce(into: (version << 24 | flags).bigEndianBytes()) { $0 += $1 }
        return box(type, content)
    }

    static func letters(_ text: StaticString) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Returns big-endian numbers of 16 bits.
    static func words(_ numbers: Int...) -> [UInt8] { numbers.flatMap { UInt16($0).bigEndianBytes() } }

    /// Returns big-endian numbers of 32 bits.
    static func longs(_ numbers: Int...) -> [UInt8] { numbers.flatMap { UInt32($0).bigEndianBytes() } }

    /// Returns a big-endian number of 64 bits.
    static func long64(_ number: UInt64) -> [UInt8] { number.bigEndianBytes() }

    static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
