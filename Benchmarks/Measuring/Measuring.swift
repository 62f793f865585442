import Glibc
package import Memory

// What the benchmarks of this folder share.

/// CPU milliseconds of this process, all threads together.
package func processMilliseconds() -> Double {
    var usage = rusage()
    unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func milliseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1_000 + Double(time.tv_usec) / 1_000 }
    return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime)
}

/// The bytes of a file; ends the process if it cannot be read.
package func read(_ path: String) -> SharedBytes {
    guard let file = unsafe fopen(path, "rb") else { fatalError("\(path) cannot be read") }
    defer { unsafe fclose(file) }
    var bytes = ByteAccumulator()
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while case let count = unsafe fread(&buffer, 1, buffer.count, file), count > 0 {
        unsafe buffer.withUnsafeBytes { unsafe bytes.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
    return bytes.finish()
}

/// Writes a file; ends the process if it cannot be written.
package func write(_ bytes: SharedBytes, _ path: String) {
    guard let file = unsafe fopen(path, "wb") else { fatalError("\(path) cannot be written") }
    defer { unsafe fclose(file) }
    _ = unsafe bytes.withUnsafeBytes { unsafe fwrite($0.baseAddress, 1, $0.count, file) }
}
