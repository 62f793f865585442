import CLinux
import Glibc

@safe
package struct ByteAccumulator: ~Copyable {
    @safe
    struct Block {
        fileprivate(set) var base: UnsafeMutableRawPointer?
        fileprivate(set) var count = 0
        fileprivate var capacity = 0
        /// Whether the block is a mapping; otherwise `malloc` allocated it.
        fileprivate(set) var isMapped = false

        fileprivate func release() { if isMapped { unsafe munmap(base, capacity) } else { unsafe free(base) } }
    }

    /// Larger blocks are mapped: they grow without a copy, which would delay the other transfers of a thread.
    private static let maximumHeapCapacity = 4 << 20

    package var count: Int { block.count }
    private var block = Block()

    /// - Parameter capacity: The expected length, which the caller has capped.
    package init(reservingCapacity capacity: Int = 0) { if capacity > 0 { reserve(capacity) } }

    deinit { block.release() }

    /// Appends bytes; a full block grows by half, so that little memory is unused.
    @unsafe
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        let count = block.count + bytes.count
        let capacity = block.capacity
        if count > capacity { reserve(max(count, capacity + capacity / 2, 4096)) }
        if let base = unsafe block.base { unsafe memcpy(base + block.count, source, bytes.count) }
        block.count = count
    }

    package mutating func append(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe append($0) } }

    package mutating func append(_ bytes: SharedBytes) { unsafe bytes.withUnsafeBytes { unsafe append($0) } }

    package consuming func finish() -> SharedBytes { SharedBytes(takeStorage()) }

    mutating func takeStorage() -> Block {
        defer { block = Block() }
        return block
    }

    /// - Parameter minimumCapacity: At least the current count.
    package mutating func reserve(_ minimumCapacity: Int) {
        var grown = block
        if minimumCapacity <= Self.maximumHeapCapacity, !block.isMapped {
            unsafe grown.base = realloc(block.base, minimumCapacity)
            grown.capacity = minimumCapacity
        } else {
            grown.isMapped = true
            grown.capacity = Block.roundedToPages(minimumCapacity)
            unsafe grown.base = CLinux_resize_mapping(
                block.isMapped ? block.base : nil, block.isMapped ? block.capacity : 0, grown.capacity)
        }
        guard let base = unsafe grown.base else { fatalError("out of memory for \(minimumCapacity) bytes") }
        if grown.isMapped, !block.isMapped {
            if let old = unsafe block.base { unsafe memcpy(base, old, block.count) }
            block.release()
        }
        block = grown
    }
}

extension ByteAccumulator.Block {
    fileprivate static func roundedToPages(_ count: Int) -> Int {
        let page = Int(getpagesize())
        return (max(count, 1) + page - 1) / page * page
    }

    /// Frees the unused pages of a mapping; returns the remaining size.
    mutating func trim() -> Int {
        let size = Self.roundedToPages(count)
        // This fails if the process has too many mappings to split one.
        if let base = unsafe base, size < capacity, unsafe munmap(base + size, capacity - size) != 0 { return capacity }
        capacity = size
        return size
    }
}

extension FixedWidthInteger {
    /// Returns the lowest bytes.
    package func bigEndianBytes(_ count: Int = Self.bitWidth / 8) -> [UInt8] { littleEndianBytes(count).reversed() }

    /// Returns the lowest bytes.
    package func littleEndianBytes(_ count: Int = Self.bitWidth / 8) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }
}
