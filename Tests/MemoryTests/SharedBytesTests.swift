import CLinux
import Glibc
import Memory
import Synchronization
import Testing

struct SharedBytesTests {
    @Test func `bytes are copied in and read back`() {
        #expect(SharedBytes([1, 2, 3]).array == [1, 2, 3])
        #expect(SharedBytes([UInt8]()).array.isEmpty)
        #expect(SharedBytes("abc".utf8).withBytes { $0.byteCount } == 3)
    }

    @Test func `an adopted block is released exactly once, with the last reference`() {
        let releases = Releases()
        let base = UnsafeMutableRawPointer.allocate(byteCount: 4, alignment: 1)
        unsafe base.initializeMemory(as: UInt8.self, repeating: 7, count: 4)
        var first: SharedBytes? = unsafe SharedBytes(adopting: base, count: 4, footprint: 4) { base, count in
            releases.add(count)
            unsafe base.deallocate()
        }
        let second = first
        first = nil
        #expect(releases.total == 0)
        withExtendedLifetime(second) {}
        #expect(second?.array == [7, 7, 7, 7])
    }

    @Test(arguments: [1, 3_000, 60_000, 900_000, 1 << 20])
    func `a malloc block shrinks to its bytes, and counts with its allocated size`(count: Int) {
        guard let base = unsafe malloc(1 << 20) else { fatalError("out of memory") }
        unsafe memset(base, 7, 1 << 20)
        let bytes = unsafe SharedBytes(heap: base, count: count)
        #expect(bytes.array == [UInt8](repeating: 7, count: count))
        let size = unsafe bytes.withUnsafeBytes { unsafe CLinux_block_size($0.baseAddress) }
        #expect(bytes.footprint == size && count...count + count / 4 + 8_192 ~= size)
    }

    @Test func `a body received in portions counts with its allocated size`() {
        for count in [1, 5_000, 70_000] {
            var accumulator = ByteAccumulator()
            for _ in 0..<count { unsafe withUnsafeBytes(of: UInt8(1)) { unsafe accumulator.append($0) } }
            let bytes = accumulator.finish()
            let size = unsafe bytes.withUnsafeBytes { unsafe CLinux_block_size($0.baseAddress) }
            #expect(bytes.count == count && bytes.footprint == size && size <= count + count / 4 + 8_192)
        }
    }

    @Test func `a part retains the memory of its block, and only the block counts`() {
        let whole = SharedBytes([UInt8](repeating: 1, count: 40_000))
        let before = SharedBytes.allocatedByteCount
        let part = SharedBytes(10..<20, of: whole)
        #expect(part.footprint == whole.footprint && whole.footprint >= 40_000)
        #expect(SharedBytes.allocatedByteCount - before < whole.footprint)
    }

    @Test func `a malloc block may have no bytes, or be missing`() {
        let empty = unsafe SharedBytes(heap: malloc(10), count: 0)
        let missing = unsafe SharedBytes(heap: nil, count: 0)
        #expect(empty.array.isEmpty && missing.array.isEmpty)
    }

    @Test func `the release function runs when no reference remains`() {
        let releases = Releases()
        do {
            let base = UnsafeMutableRawPointer.allocate(byteCount: 4, alignment: 1)
            _ = unsafe SharedBytes(adopting: base, count: 4, footprint: 4) { base, count in
                releases.add(count)
                unsafe base.deallocate()
            }
        }
        #expect(releases.total == 4)
    }

    @Test func `a part of a block is not copied, and keeps the block alive`() {
        let releases = Releases()
        let base = UnsafeMutableRawPointer.allocate(byteCount: 5, alignment: 1)
        unsafe base.initializeMemory(as: UInt8.self, from: [1, 2, 3, 4, 5], count: 5)
        var whole: SharedBytes? = unsafe SharedBytes(adopting: base, count: 5, footprint: 5) { base, count in
            releases.add(count)
            unsafe base.deallocate()
        }
        var part = whole.map { SharedBytes(1..<4, of: $0) }
        var inner = part.map { SharedBytes(2..<3, of: $0) }
        whole = nil
        let start = unsafe inner?.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        #expect(part?.array == [2, 3, 4] && start == UInt(bitPattern: base) + 3)
        part = nil
        #expect(releases.total == 0 && inner?.array == [4])
        inner = nil
        #expect(releases.total == 5)
    }

    @Test func `an accumulator grows with its bytes and hands its block over`() {
        var accumulator = ByteAccumulator(reservingCapacity: 2)
        let chunk = [UInt8](0..<200)
        for _ in 0..<100 { unsafe chunk.withUnsafeBytes { unsafe accumulator.append($0) } }
        #expect(accumulator.count == 20_000)
        let bytes = accumulator.finish()
        #expect(bytes.array == Array(repeatElement(chunk, count: 100).joined()))
    }

    /// Sizes from a heap block to a mapped block that grows.
    @Test(arguments: [0, 5 << 20, 64 << 20])
    func `a large body is mapped, without the rest of its last page`(capacity: Int) {
        let before = SharedBytes.allocatedByteCount
        var accumulator = ByteAccumulator(reservingCapacity: capacity)
        let chunk = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        for _ in 0..<9 { unsafe chunk.withUnsafeBytes { unsafe accumulator.append($0) } }
        accumulator.append([1])
        do {
            let bytes = accumulator.finish()
            #expect(bytes.count == (9 << 20) + 1 && bytes.footprint == (9 << 20) + Int(getpagesize()))
            #expect(bytes.array.starts(with: Array(repeatElement(chunk, count: 9).joined())) && bytes.array.last == 1)
            #expect(SharedBytes.allocatedByteCount - before >= 9 << 20)
        }
        #expect(SharedBytes.allocatedByteCount - before < 9 << 20)
    }

    @Test func `an empty accumulator makes an empty block`() {
        #expect(ByteAccumulator().finish().count == 0)
    }
}

private final class Releases: Sendable {
    private let bytes = Atomic(0)
    var total: Int { bytes.load(ordering: .relaxed) }
    func add(_ count: Int) { bytes.wrappingAdd(count, ordering: .relaxed) }
}
