import Glibc

extension Origins {
    /// A file or a folder that an origin names cannot be read.
    package struct Unreadable: Error, Equatable, CustomStringConvertible {
        /// The origin's name.
        package let origin: String
        /// The path that it names.
        package let path: String

        /// A line for operators.
        package var description: String { "origins.\(origin): \(path) cannot be read" }
    }

    /// Looks for the files and folders that origins name, so that a wrong one prevents the start, instead of failing
    /// every request.
    ///
    /// - Throws: ``Unreadable`` for the first one that is missing.
    package func checkFiles() throws(Unreadable) {
        for origin in all {
            if let path = origin.certificateAuthorities, !Self.canOpen(path, 0) {
                throw Unreadable(origin: origin.name, path: path)
            }
            if case .folder(let path) = origin.place, !Self.canOpen(path, O_DIRECTORY) {
                throw Unreadable(origin: origin.name, path: path)
            }
        }
    }

    private static func canOpen(_ path: String, _ flags: CInt) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | flags)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }
}
