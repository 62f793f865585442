import Coordination
import Glibc
import Testing

struct ProgramPagesTests {
    /// Resident pages of mapped files in this process, in kilobytes.
    private static func mappedFiles() throws -> Int {
        let descriptor = unsafe open("/proc/self/status", O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 14)
        let count = unsafe read(descriptor, &bytes, bytes.count)
        let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("RssFile:") })
        return try #require(line.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) })
    }

    @Test func `the process continues with less of its code mapped`() throws {
        let before = try Self.mappedFiles()
        releaseProgramPages()
        #expect(try Self.mappedFiles() < before)
    }
}
