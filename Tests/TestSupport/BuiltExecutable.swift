import Glibc

/// The programs that were built beside the tests.
package enum BuiltExecutable {
    /// The path of the service's executable.
    package static let alula = folder + "/alula"

    /// Where the tests' own program is.
    private static let folder: String = {
        var path = [CChar](repeating: 0, count: 4_096)
        let count = unsafe readlink("/proc/self/exe", &path, path.count)
        let text = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    }()
}
