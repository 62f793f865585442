import Downloading
import Text

struct ImgproxyAllowedSources {
    /// A star matches characters other than a slash.
    private(set) var patterns: [SourcePattern] = []
    private(set) var includesFiles = false

    private static let fileScheme = "local"

    /// Comma-separated; prefixes of unsupported stores allow nothing.
    init(_ text: String) throws(InvalidValue) {
        for member in try SettingParser.members.parse(text) {
            let scheme = member.prefix(before: UInt8(ascii: ":")).asciiLowercased
            let rest = member.utf8.dropFirst(scheme.utf8.count)
            guard rest.starts(with: "://".utf8) else { throw Self.fault }
            switch scheme {
            case Self.fileScheme:
                guard rest.dropFirst(3).allSatisfy({ $0 == UInt8(ascii: "/") }) else {
                    throw InvalidValue(
                        allowed: "local:// for all files: parts of their folder cannot be allowed here")
                }
                includesFiles = true
            case "http", "https":
                // A scheme alone allows all hosts.
                guard let pattern = SourcePattern(prefix: rest.count == 3 ? member + "*" : member) else {
                    throw Self.fault
                }
                patterns.append(pattern)
            default: continue
            }
        }
        guard includesFiles || !patterns.isEmpty else { throw Self.fault }
    }

    private static let fault = InvalidValue(
        allowed: "beginnings of URLs such as https://example.com/ and local://, separated by commas")
}
