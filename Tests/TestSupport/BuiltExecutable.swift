import Glibc

/// Paths of the executables that were built together with the tests.
package enum BuiltExecutable {
    package static let alula = folder + "/alula"

    /// Folder of the test executable.
    private static let folder: String = {
        var path = [CChar](repeating: 0, count: 4_096)
        let count = unsafe readlink("/proc/self/exe", &path, path.count)
        let text = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    }()
}
