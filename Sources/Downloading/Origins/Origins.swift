import Glibc
package import Text

package struct Origins: Sendable {
    private var origins: [ExactText: Origin] = [:]

    package init() {}

    package init(_ origins: [Origin]) { self.origins = Dictionary(origins.map { (ExactText($0.name), $0) }) { $1 } }

    package subscript(name: String?) -> Origin? { name.flatMap { origins[ExactText($0)] } }

    package func without(_ names: some Sequence<ExactText>) -> Origins {
        var rest = self
        for name in names where origins[name] != nil { rest.origins[name] = nil }
        return rest
    }

    package var all: [Origin] { origins.values.sorted { $0.name < $1.name } }

    var namesByKey: [OriginKey: [String]] {
        var names: [OriginKey: [String]] = [:]
        for origin in all { names[origin.key, default: []].append(origin.name) }
        return names
    }

    /// Transfer limits by host and port; the lowest applies if several origins have the same host.
    var maximumActiveDownloads: [ExactText: Int] {
        var limits: [ExactText: Int] = [:]
        for origin in origins.values {
            guard case .web(let base) = origin.location, let limit = origin.limits.maximumActiveDownloads else {
                continue
            }
            limits[base.hostAndPort] = min(limit, limits[base.hostAndPort] ?? limit)
        }
        return limits
    }

    package static func isName(_ name: String) -> Bool {
        let bytes = name.utf8
        return (1...32).contains(bytes.count) && bytes.first?.isASCIILowercase == true
            && bytes.allSatisfy { $0.isASCIILowercase || $0.isASCIIDigit || $0 == UInt8(ascii: "-") }
            && name != "http" && name != "https"
    }
}

extension Origins {
    package struct Unusable: Error, Equatable, CustomStringConvertible {
        package let origin: String
        package let problem: String

        package var description: String { "origins.\(origin): \(problem)" }
    }

    /// Checks certificate and key files, so that an invalid file prevents the start and not every request.
    ///
    /// - Parameter name: An origin to skip, because the service works without it.
    package func checkFiles(exceptOf name: String? = nil) throws(Unusable) {
        for origin in all where origin.name != name {
            for path in origin.files where !Self.canOpen(path) { throw Self.unreadable(path, of: origin) }
            switch origin.location {
            case .folder(let path):
                guard Self.canOpen(path, flags: O_DIRECTORY) else { throw Self.unreadable(path, of: origin) }
            case .web, .memory: break
            }
            if let client = origin.clientCertificate, !client.isValid {
                let problem = "\(client.file) is not a PEM certificate, or \(client.keyFile) is not its unencrypted key"
                throw Unusable(origin: origin.name, problem: problem)
            }
        }
    }

    private static func unreadable(_ path: String, of origin: Origin) -> Unusable {
        Unusable(origin: origin.name, problem: "\(path) cannot be read")
    }

    private static func canOpen(_ path: String, flags: CInt = 0) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | flags)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }
}

extension Origin {
    fileprivate var files: [String] {
        var files = [certificateAuthorities, clientCertificate?.file, clientCertificate?.keyFile].compactMap(\.self)
        if case .signature(let source, _)? = credentials, let file = source.file { files.append(file) }
        return files
    }
}
