import Glibc
package import Text

package struct Origins: Sendable {
    private var origins: [ExactText: Origin] = [:]

    package init() {}

    package init(_ origins: [Origin]) { self.origins = Dictionary(origins.map { (ExactText($0.name), $0) }) { $1 } }

    package subscript(name: String?) -> Origin? { name.flatMap { origins[ExactText($0)] } }

    package func without(_ names: some Sequence<ExactText>) -> Origins {
        var rest = self
        for name in names { rest.origins[name] = nil }
        return rest
    }

    package var all: [Origin] { origins.values.sorted { $0.name < $1.name } }

    var namesByKey: [OriginKey: [String]] {
        var names: [OriginKey: [String]] = [:]
        for origin in all { names[origin.key, default: []].append(origin.name) }
        return names
    }

    /// The transfer limits by host and port; the lowest of several applies.
    var maximumActiveDownloads: [ExactText: Int] {
        var caps: [ExactText: Int] = [:]
        for origin in origins.values {
            guard case .web(let base) = origin.location, let cap = origin.limits.maximumActiveDownloads else {
                continue
            }
            caps[base.hostAndPort] = min(cap, caps[base.hostAndPort] ?? cap)
        }
        return caps
    }

    package static func isName(_ name: String) -> Bool {
        let bytes = name.utf8
        return (1...32).contains(bytes.count) && bytes.first?.isASCIILowercase == true
            && bytes.allSatisfy { $0.isASCIILowercase || $0.isASCIIDigit || $0 == UInt8(ascii: "-") }
            && name != "http" && name != "https"
    }
}

extension Origins {
    package struct Unreadable: Error, Equatable, CustomStringConvertible {
        package let origin: String
        package let path: String

        package var description: String { "origins.\(origin): \(path) cannot be read" }
    }

    /// So that a wrong file prevents the start instead of failing every request.
    ///
    /// - Parameter name: An origin to skip, because the service works without it.
    package func checkFiles(exceptOf name: String? = nil) throws(Unreadable) {
        for origin in all where origin.name != name {
            if let path = origin.certificateAuthorities, !Self.canOpen(path, 0) {
                throw Unreadable(origin: origin.name, path: path)
            }
            if case .signature(let source, _)? = origin.credentials, let path = source.file, !Self.canOpen(path, 0) {
                throw Unreadable(origin: origin.name, path: path)
            }
            if case .folder(let path) = origin.location, !Self.canOpen(path, O_DIRECTORY) {
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
