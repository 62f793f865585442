import Dialects
import Downloading
import Imaging
import Text
import ThumbnailAPI
import ThumbnailPipeline

/// Reads imaginary's flags, as variables with their names: `IMAGINARY_ENABLE_URL_SOURCE` for `-enable-url-source`.
///
/// A few variables are the service's own: `URL_SIGNATURE_KEY`, which overrides the flag, and `PORT`.
struct ImaginaryEnvironment: ForeignReader {
    var settings: Settings
    var reading = ForeignEnvironment.Reading()
    var meant: [String] = []
    private var signatureKey: String?
    private var demandsSignatures = false
    private var folder: String?
    private var placeholder: ImaginaryPlaceholder?
    private var placeholderStatus: Int?

    private static let prefix = "IMAGINARY_"
    private static let origin = "imaginary-mount"
    private static let placeholderOrigin = "imaginary-placeholder"

    init(_ settings: Settings, _ environment: [String: String]) {
        self.settings = settings
        self.settings.dialects.imaginary.place = DialectPlace("/")
        // The service has no option to reject uploads.
        self.settings.api.takesUploads = true
        self.settings.pipeline.rules.limits.incompleteImages = .serve
    }

    static let keys = ["IMAGINARY_KEY"]

    static func isSecret(_ name: String) -> Bool { name.contains("KEY") || name.contains("AUTH") }

    mutating func meaning(of name: String, _ text: String) throws(InvalidValue) -> ForeignVariable.Meaning? {
        guard let flag = name.suffix(after: Self.prefix).map(String.init), !flag.isEmpty else {
            return try readOwn(name, text) ? .counts(meant) : nil
        }
        if try readAccess(flag, text) { return .counts(meant) }
        if try readService(flag, text) { return .counts(meant) }
        return Self.isHarmless(flag, text) ? .harmless : .lost
    }

    /// Reads variables that are not flags.
    private mutating func readOwn(_ name: String, _ text: String) throws(InvalidValue) -> Bool {
        switch name {
        case "URL_SIGNATURE_KEY":
            meant = ["imaginarySignatureKey"]
            signatureKey = text
        case "PORT": try set("port", text)
        default: return false
        }
        return true
    }

    /// Reads flags for access control.
    private mutating func readAccess(_ flag: String, _ text: String) throws(InvalidValue) -> Bool {
        switch flag {
        case "KEY": try set("imaginaryKey", text)
        case "ENABLE_URL_SIGNATURE":
            meant = ["imaginarySignatureKey"]
            demandsSignatures = try Self.flag(text)
        case "URL_SIGNATURE_KEY":
            meant = ["imaginarySignatureKey"]
            signatureKey = signatureKey ?? text
        case "ENABLE_URL_SOURCE": settings.dialects.imaginary.takesURLs = try Self.flag(text)
        case "DISABLE_ENDPOINTS":
            settings.dialects.imaginary.disabledRoutes = Set(try SettingValues.list(text).map { ExactText($0) })
            settings.dialects.bounded.insert("imaginary")
        case "ALLOWED_ORIGINS":
            meant = ["allowedSources"]
            settings.downloads.allowedSources = try Self.patterns(text)
        case "MAX_ALLOWED_SIZE": if text != "0" { try set("maxSourceBytes", text) }
        case "MAX_ALLOWED_RESOLUTION":
            guard let millions = Double(text), millions >= 0, millions < 1e6 else {
                throw InvalidValue(allowed: "millions of pixels")
            }
            if millions > 0 { try set("maxSourcePixels", String(Int((millions * 1_000_000).rounded()))) }
        case "MOUNT":
            guard let path = Self.resolved(text) else { throw InvalidValue(allowed: "a folder") }
            meant = ["origins.\(Self.origin)"]
            folder = path
        default: return false
        }
        return true
    }

    /// Reads flags that correspond to settings of the service.
    private mutating func readService(_ flag: String, _ text: String) throws(InvalidValue) -> Bool {
        switch flag {
        case "A": try set("bind", text)
        case "P": try set("port", text)
        case "CORS": if try Self.flag(text) { try set("allowOrigin", "*") }
        case "PATH_PREFIX":
            try set("imaginaryPath", text.count > 1 && text.hasSuffix("/") ? String(text.dropLast()) : text)
        case "HTTP_CACHE_TTL":
            settings.dialects.imaginary.maximumAge = try SettingValues.integer(text, in: 0...31_556_926)
        case "HTTP_READ_TIMEOUT", "HTTP_WRITE_TIMEOUT": try set("requestTimeout", text + "s")
        case "ENABLE_PLACEHOLDER":
            if try Self.flag(text) { placeholder = placeholder ?? ImaginaryPlaceholder() }
        case "PLACEHOLDER": try readPlaceholder(path: text)
        case "PLACEHOLDER_STATUS": placeholderStatus = try SettingValues.integer(text, in: 200...599)
        case "LOG_LEVEL": try set("logLevel", text)
        case "CERTFILE", "KEYFILE":
            throw InvalidValue(allowed: "none: the service speaks no TLS; a proxy in front of it does")
        default: return false
        }
        return true
    }

    /// Returns whether a flag requests behavior that the service always has, or concerns imaginary's internals.
    private static func isHarmless(_ flag: String, _ text: String) -> Bool {
        switch flag {
        case "RETURN_SIZE", "GZIP", "CPUS", "MRELEASE": true
        default: (try? Self.flag(text)) == false
        }
    }

    mutating func finish() {
        if demandsSignatures {
            do throws(InvalidValue) {
                guard let signatureKey else { throw InvalidValue(allowed: "true with URL_SIGNATURE_KEY") }
                try set("imaginarySignatureKey", signatureKey)
            } catch {
                reading.problems.append("URL_SIGNATURE_KEY: its value is not allowed; allowed is \(error.allowed)")
            }
        }
        placeholder?.status = placeholderStatus
        settings.dialects.imaginary.placeholder = placeholder
        if let folder {
            settings.dialects.imaginary.folder = SourceBase("\(Self.origin):")
            settings.dialects.origins.append(Origin(name: Self.origin, place: .folder(path: folder)))
        }
    }

    /// Makes only this file of its folder available.
    private mutating func readPlaceholder(path: String) throws(InvalidValue) {
        guard let resolved = Self.resolved(path), let slash = resolved.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            throw InvalidValue(allowed: "the path of a file")
        }
        let name = String(resolved[resolved.utf8.index(after: slash)...])
        let folder = resolved[..<slash]
        var origin = Origin(
            name: Self.placeholderOrigin, place: .folder(path: folder.isEmpty ? "/" : String(folder)))
        origin.onlyFile = ExactText(name)
        settings.dialects.origins.append(origin)
        meant = ["origins.\(origin.name)"]
        placeholder = ImaginaryPlaceholder()
        placeholder?.source = ExactText("\(origin.name):\(name)")
    }

    /// Reads hosts with path prefixes and any scheme: `https://images.example.com/a`, `https://*.example.com`,
    /// `https://example.com/a*`.
    private static func patterns(_ text: String) throws(InvalidValue) -> [SourcePattern] {
        var patterns: [SourcePattern] = []
        for member in try SettingValues.list(text) {
            guard let rest = member.firstRange(of: "://").map({ String(member[$0.upperBound...]) }), !rest.isEmpty
            else {
                throw InvalidValue(allowed: "URLs such as https://example.com/photos, with commas between them")
            }
            let host = rest.prefix(before: UInt8(ascii: "/"))
            let path = rest[host.endIndex...]
            let ending =
                path.hasSuffix("*") ? String(path) : (path.hasSuffix("/") ? String(path) : path + "/") + "*"
            // A wildcard subdomain also matches the host itself.
            let hosts = host.suffix(after: "*.").map { [String(host), String($0)] } ?? [String(host)]
            for host in hosts {
                // Without a scheme, a pattern matches both.
                guard let pattern = SourcePattern(host + ending) else {
                    throw InvalidValue(allowed: "URLs with a star before the host or at the end")
                }
                patterns.append(pattern)
            }
        }
        return patterns
    }
}
