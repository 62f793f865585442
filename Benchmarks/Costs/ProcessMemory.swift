import Glibc

/// Memory of this process, as the kernel counts it.
enum ProcessMemory {
    /// Bytes that are resident now.
    static var resident: Int { bytes("VmRSS:") }

    /// Most resident bytes since ``resetPeak()``.
    static var peak: Int { bytes("VmHWM:") }

    /// Resets the peak to the resident bytes of now.
    static func resetPeak() {
        guard let file = unsafe fopen("/proc/self/clear_refs", "we") else { return }
        unsafe fputs("5", file)
        unsafe fclose(file)
    }

    private static func bytes(_ name: String) -> Int {
        guard let file = unsafe fopen("/proc/self/status", "re") else { return 0 }
        defer { unsafe fclose(file) }
        var text = [UInt8](repeating: 0, count: 8_192)
        let count = unsafe fread(&text, 1, text.count, file)
        let line = String(decoding: text[..<count], as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first).flatMap { Int($0) }.map { $0 << 10 } ?? 0
    }
}
