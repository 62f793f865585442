import CLinux
import Glibc
import Imaging
import Memory

/// The kernel refused something that handing pixels over takes.
package struct SharedMemoryError: Error {
    /// What was tried, for logs.
    let step: StaticString
    /// The number of the error.
    let number: CInt

    /// Whether the kernel has no more of what it takes, which is nobody's fault.
    var isShortage: Bool { [ENOMEM, ENOSPC, ENFILE, EMFILE].contains(number) }

    init(_ step: StaticString, _ number: CInt = errno) {
        self.step = step
        self.number = number
    }
}

/// Memory behind a descriptor, which can be handed to another process.
@safe
package struct SharedMemory: ~Copyable {
    /// What names it to the kernel.
    let descriptor: CInt

    /// Takes over a descriptor.
    init(adopting descriptor: CInt) { self.descriptor = descriptor }

    /// Memory of `count` bytes for good, of which none takes a page yet; the name is for people who look at the process.
    init(_ name: StaticString, count: Int) throws(SharedMemoryError) {
        descriptor = unsafe CLinux_shared_memory(UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self))
        if descriptor < 0 { throw SharedMemoryError("memfd_create") }
        if ftruncate(descriptor, count) != 0 { throw SharedMemoryError("ftruncate") }
        // A mapping that reaches behind the end of its memory kills who reads there; nor does memory become dearer than it was.
        if CLinux_seal_size(descriptor) != 0 { throw SharedMemoryError("fcntl") }
    }

    deinit {
        close(descriptor)
    }

    /// Makes it begin with `bytes`.
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

    /// Makes sure that nobody changes the memory any more.
    ///
    /// - Throws: Also while another process is still able to.
    func seal() throws(SharedMemoryError) {
        if CLinux_seal(descriptor) != 0 { throw SharedMemoryError("fcntl") }
    }

    /// Makes the pages of its first `count` bytes.
    func fill(_ count: Int) throws(SharedMemoryError) {
        let error = posix_fallocate(descriptor, 0, count)
        if error != 0 { throw SharedMemoryError("posix_fallocate", error) }
    }

    /// How many bytes its pages take, those that nobody has asked for included.
    func allocatedByteCount() throws(SharedMemoryError) -> Int {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw SharedMemoryError("fstat") }
        return Int(status.st_blocks) * 512
    }

    /// Writes `bytes` behind the first `offset`.
    func append(_ bytes: [UInt8], at offset: Int) throws(SharedMemoryError) {
        guard !bytes.isEmpty else { return }
        guard unsafe pwrite(descriptor, bytes, bytes.count, offset) == bytes.count else {
            throw SharedMemoryError("pwrite")
        }
    }

    /// The bytes of `range`, copied.
    func bytes(_ range: Range<Int>) throws(SharedMemoryError) -> [UInt8] {
        if range.isEmpty { return [] }
        var bytes = [UInt8](repeating: 0, count: range.count)
        let count = unsafe pread(descriptor, &bytes, range.count, range.lowerBound)
        guard count == range.count else {
            throw SharedMemoryError("pread", count < 0 ? errno : 0)
        }
        return bytes
    }

    /// The first `count` bytes of sealed memory, to be read where they are; the memory lives on with them.
    func mapped(count: Int) throws(SharedMemoryError) -> SharedBytes {
        // What nobody can write to is nobody's own either way; before Linux 6.7 it cannot be mapped as shared.
        let base = unsafe try map(count, PROT_READ, MAP_PRIVATE)
        return unsafe SharedBytes(adopting: base, count: count, release: { base, count in unsafe munmap(base, count) })
    }

    /// The first `count` bytes, to be written.
    func writable(count: Int) throws(SharedMemoryError) -> PlaneMemory {
        let base = unsafe try map(count, PROT_READ | PROT_WRITE)
        return unsafe PlaneMemory(adopting: base, count: count, release: { base, count in unsafe munmap(base, count) })
    }

    /// Where its first `count` bytes are from now on; the caller's to unmap.
    ///
    /// - Parameter isFilled: Whether all pages are made at once; each by itself costs a fault.
    @unsafe
    func map(
        _ count: Int, _ protection: CInt, _ kind: CInt = MAP_SHARED, isFilled: Bool = true
    ) throws(SharedMemoryError) -> UnsafeMutableRawPointer {
        let flags = kind | (isFilled ? CInt(MAP_POPULATE) : 0)
        // Pages begin where any processor's registers like it.
        let base = unsafe mmap(nil, count, protection, flags, descriptor, 0)
        guard let base = unsafe base, unsafe base != MAP_FAILED else { throw SharedMemoryError("mmap") }
        return unsafe base
    }
}
