import CLinux
import Glibc
import Imaging
import Memory
import Recipes

package struct SharedMemoryError: Error, CustomStringConvertible {
    let step: StaticString
    let number: CInt

    package var description: String { "the system rejected shared memory (\(step), error \(number))" }

    var isShortage: Bool { [ENOMEM, ENOSPC, ENFILE, EMFILE].contains(number) }

    init(_ step: StaticString, number: CInt = errno) {
        self.step = step
        self.number = number
    }
}

@safe
package struct SharedMemory: ~Copyable {
    let descriptor: CInt

    init(adopting descriptor: CInt) { self.descriptor = descriptor }

    /// Creates memory of a fixed size without allocating pages; its name appears in `/proc`.
    init(_ name: StaticString, count: Int) throws(SharedMemoryError) {
        descriptor = unsafe CLinux_shared_memory(UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self))
        if descriptor < 0 { throw SharedMemoryError("memfd_create") }
        if ftruncate(descriptor, count) != 0 { throw SharedMemoryError("ftruncate") }
        // If a worker could shrink the memory, the server would crash when reading beyond its end; if it could grow it,
        // it could exceed its cost.
        if CLinux_seal_size(descriptor) != 0 { throw SharedMemoryError("fcntl") }
    }

    deinit {
        close(descriptor)
    }

    func write(_ bytes: SharedBytes) throws(SharedMemoryError) {
        try unsafe bytes.withUnsafeBytes { bytes throws(SharedMemoryError) in
            var start = 0
            while start < bytes.count {
                let written = unsafe pwrite(
                    descriptor, bytes.baseAddress?.advanced(by: start), bytes.count - start, start)
                if written > 0 {
                    start += written
                } else if errno != EINTR {
                    throw SharedMemoryError("pwrite")
                }
            }
        }
    }

    /// Forbids writing, permanently and for all processes; throws while a process has a writable mapping.
    func seal() throws(SharedMemoryError) {
        if CLinux_seal(descriptor) != 0 { throw SharedMemoryError("fcntl") }
    }

    func allocatePages(count: Int) throws(SharedMemoryError) {
        let error = posix_fallocate(descriptor, 0, count)
        if error != 0 { throw SharedMemoryError("posix_fallocate", number: error) }
    }

    /// Frees the pages; all bytes then read as zeros.
    func releasePages(count: Int) {
        // If the kernel cannot release the pages, they stay allocated, which is harmless.
        _ = CLinux_release_pages(descriptor, count)
    }

    /// Returns the number of allocated bytes, whether requested or not.
    func allocatedByteCount() throws(SharedMemoryError) -> Int {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw SharedMemoryError("fstat") }
        return Int(status.st_blocks) * 512
    }

    func append(_ bytes: [UInt8], at offset: Int) throws(SharedMemoryError) {
        guard !bytes.isEmpty else { return }
        guard unsafe pwrite(descriptor, bytes, bytes.count, offset) == bytes.count else {
            throw SharedMemoryError("pwrite")
        }
    }

    func bytes(_ range: Range<Int>) throws(SharedMemoryError) -> [UInt8] {
        if range.isEmpty { return [] }
        var bytes = [UInt8](repeating: 0, count: range.count)
        let count = unsafe pread(descriptor, &bytes, range.count, range.lowerBound)
        guard count == range.count else {
            throw SharedMemoryError("pread", number: count < 0 ? errno : 0)
        }
        return bytes
    }

    func mapped(count: Int) throws(SharedMemoryError) -> SharedBytes {
        // Sealed memory has no writer, so a private mapping suffices; Linux before 6.7 rejects a shared one.
        let base = unsafe try map(count, protection: PROT_READ, kind: MAP_PRIVATE)
        return unsafe SharedBytes(
            adopting: base, count: count, footprint: Self.wholePages(count),
            release: { base, count in unsafe munmap(base, count) })
    }

    func writable(count: Int) throws(SharedMemoryError) -> PlaneMemory {
        let base = unsafe try map(count, protection: PROT_READ | PROT_WRITE)
        return unsafe PlaneMemory(
            adopting: base, count: count, footprint: Self.wholePages(count),
            release: { base, count in unsafe munmap(base, count) })
    }

    private static func wholePages(_ count: Int) -> Int {
        let page = sysconf(CInt(_SC_PAGESIZE))
        return (count + page - 1) / page * page
    }

    @unsafe
    func map(
        _ count: Int, protection: CInt, kind: CInt = MAP_SHARED, isFilled: Bool = true
    ) throws(SharedMemoryError) -> UnsafeMutableRawPointer {
        let flags = kind | (isFilled ? CInt(MAP_POPULATE) : 0)
        // Mappings begin at page boundaries, which are aligned for any vector instruction.
        let base = unsafe mmap(nil, count, protection, flags, descriptor, 0)
        guard let base = unsafe base, unsafe base != MAP_FAILED else { throw SharedMemoryError("mmap") }
        return unsafe base
    }
}
