import Glibc

@safe
package struct ByteAccumulator: ~Copyable {
    package private(set) var count = 0
    private var capacity = 0
    private var base: UnsafeMutableRawPointer?

    /// - Parameter capacity: A hint from an announced length, already capped by the caller.
    package init(reservingCapacity capacity: Int = 0) { if capacity > 0 { reserve(capacity) } }

    deinit {
        unsafe free(base)
    }

    /// When full, the block grows by half, so that the slack stays small.
    @unsafe
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        if count + bytes.count > capacity { reserve(max(count + bytes.count, capacity + capacity / 2, 4096)) }
        if let base = unsafe base { unsafe memcpy(base + count, source, bytes.count) }
        count += bytes.count
    }

    package mutating func append(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe append($0) } }

    package mutating func append(_ bytes: SharedBytes) { unsafe bytes.withUnsafeBytes { unsafe append($0) } }

    package consuming func finish() -> SharedBytes {
        let block = unsafe takeStorage()
        return unsafe SharedBytes(heap: block.base, count: block.count)
    }

    @unsafe
    mutating func takeStorage() -> (base: UnsafeMutableRawPointer?, count: Int) {
        let block = unsafe (base: base, count: count)
        unsafe base = nil
        count = 0
        capacity = 0
        return unsafe block
    }

    /// `minimumCapacity` is at least the current count.
    package mutating func reserve(_ minimumCapacity: Int) {
        guard let grown = unsafe realloc(base, minimumCapacity) else {
            fatalError("out of memory for \(minimumCapacity) bytes")
        }
        unsafe base = grown
        capacity = minimumCapacity
    }
}

extension FixedWidthInteger {
    /// The lowest bytes.
    package func bigEndianBytes(_ count: Int = Self.bitWidth / 8) -> [UInt8] { littleEndianBytes(count).reversed() }

    /// The lowest bytes.
    package func littleEndianBytes(_ count: Int = Self.bitWidth / 8) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }
}
