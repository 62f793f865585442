import Glibc

/// Memory and CPU time of this process, as the kernel counts them.
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

    /// CPU milliseconds of this process, all threads together.
    static var milliseconds: Double {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func milliseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1_000 + Double(time.tv_usec) / 1_000 }
        return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime)
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
