import Dialects
import Downloading
import Recipes
import Text
import ThumbnailAPI
import ThumbnailPipeline

/// imaginary's flags as variables: `IMAGINARY_ENABLE_URL_SOURCE` is `-enable-url-source`.
///
/// imaginary itself reads two variables: `URL_SIGNATURE_KEY`, which overrides the flag, and `PORT`.
struct ImaginaryEnvironment: OtherServiceReader {
    var settings: Settings
    var reading = OtherServiceEnvironment.Reading()
    var replacedSettings: [String] = []
    private var signatureKey: String?
    private var demandsSignatures = false
    private var folder: String?
    private var placeholder: ImaginaryPlaceholder?
    private var placeholderStatus: Int?

    private static let prefix = "IMAGINARY_"
    private static let origin = "imaginary-mount"
    private static let placeholderOrigin = "imaginary-placeholder"

    init(_ settings: Settings, environment: [String: String]) {
        self.settings = settings
        self.settings.dialects.imaginary.prefix = PathPrefix("/")
        // imaginary has no option to reject uploads.
        self.settings.api.takesUploads = true
        self.settings.pipeline.rules.limits.incompleteImages = .serve
    }

    static let dialectName: ExactText = "imaginary"

    static let keys = ["IMAGINARY_KEY"]

    static func isSecret(_ name: String) -> Bool { name.contains("KEY") || name.contains("AUTH") }

    func row(of name: String) -> String? {
        if let flag = name.suffix(after: Self.prefix).map(String.init), !flag.isEmpty { return "-" + flag }
        return ["URL_SIGNATURE_KEY", "PORT"].contains(name) ? name : nil
    }

    static let rows = access + service

    private var dialect: ImaginaryConfiguration {
        get { settings.dialects.imaginary }
        set { settings.dialects.imaginary = newValue }
    }

    /// The flags with hyphens, and the variables that override them.
    private static let access: [OtherServiceRow<Self>] = [
        OtherServiceRow("URL_SIGNATURE_KEY", \.signatureKey, as: .init { $0 }, replacing: ["imaginarySignatureKey"]),
        OtherServiceRow("-URL_SIGNATURE_KEY", SettingParser<String> { $0 }, replacing: ["imaginarySignatureKey"]) {
            $0.signatureKey = $0.signatureKey ?? $1
        },
        OtherServiceRow("-KEY", "imaginaryKey"),
        OtherServiceRow(
            "-ENABLE_URL_SIGNATURE", \.demandsSignatures, as: .goFlag, replacing: ["imaginarySignatureKey"]),
        OtherServiceRow("-ENABLE_URL_SOURCE", \.dialect.takesURLs, as: .goFlag),
        OtherServiceRow("-DISABLE_ENDPOINTS", \.dialect.disabledRoutes, as: .set(.names)) { _ in true },
        OtherServiceRow(
            "-ALLOWED_ORIGINS", \.settings.downloads.allowedSources, as: .init(patterns), replacing: ["allowedSources"]),
        OtherServiceRow("-MAX_ALLOWED_SIZE", "maxSourceBytes", as: .unlessZero),
        OtherServiceRow(
            "-MAX_ALLOWED_RESOLUTION", "maxSourcePixels",
            as: .init { (text) throws(InvalidValue) in
                guard let millions = Double(text), millions >= 0, millions < 1e6 else {
                    throw InvalidValue(allowed: "millions of pixels")
                }
                return millions > 0 ? String(Int((millions * 1_000_000).rounded())) : nil
            }),
        OtherServiceRow(
            "-MOUNT", \.folder, as: .init(allowed: "a folder") { resolved($0) }, replacing: ["origins.\(origin)"]),
    ]

    /// Flags that correspond to settings of the service, and a variable.
    private static let service: [OtherServiceRow<Self>] = [
        OtherServiceRow("PORT", "port"),
        OtherServiceRow("-A", "bind"),
        OtherServiceRow("-P", "port"),
        OtherServiceRow("-CORS", "allowOrigin", as: .flag(on: "*")),
        OtherServiceRow("-PATH_PREFIX", "imaginaryPath", as: .path),
        OtherServiceRow("-HTTP_CACHE_TTL", \.dialect.maximumAge, as: .integer(in: 0...31_556_926)),
        OtherServiceRow("-HTTP_READ_TIMEOUT", "requestTimeout", as: .init { $0 + "s" }),
        OtherServiceRow("-HTTP_WRITE_TIMEOUT", "requestTimeout", as: .init { $0 + "s" }),
        OtherServiceRow("-ENABLE_PLACEHOLDER", SettingParser.goFlag) {
            if $1 { $0.placeholder = $0.placeholder ?? ImaginaryPlaceholder() }
        },
        OtherServiceRow("-PLACEHOLDER") { (reader, text) throws(InvalidValue) in
            let source = try reader.addFile(text, as: placeholderOrigin)
            reader.placeholder = ImaginaryPlaceholder()
            reader.placeholder?.source = source
        },
        OtherServiceRow("-PLACEHOLDER_STATUS", \.placeholderStatus, as: .integer(in: 200...599)),
        OtherServiceRow("-LOG_LEVEL", "logLevel"),
        OtherServiceRow("-CERTFILE", rejected: noTLS),
        OtherServiceRow("-KEYFILE", rejected: noTLS),
    ]

    private static let noTLS = "none: the service speaks no TLS; a proxy in front of it does"

    func isHarmless(_ row: String, text: String) -> Bool {
        ["-RETURN_SIZE", "-GZIP", "-CPUS", "-MRELEASE"].contains(row)
            || (try? SettingParser.goFlag.parse(text)) == false
    }

    mutating func finish() {
        if demandsSignatures {
            do throws(InvalidValue) {
                guard let signatureKey else { throw InvalidValue(allowed: "true with URL_SIGNATURE_KEY") }
                try set("imaginarySignatureKey", text: signatureKey)
            } catch {
                reading.problems.append("URL_SIGNATURE_KEY: invalid value; expected \(error.allowed)")
            }
        }
        placeholder?.status = placeholderStatus
        settings.dialects.imaginary.placeholder = placeholder
        if let folder {
            settings.dialects.imaginary.folder = SourceBase("\(Self.origin):")
            settings.dialects.origins.append(Origin(name: Self.origin, location: .folder(path: folder)))
        }
    }

    /// Reads hosts with path prefixes and any scheme: `https://images.example.com/a`, `https://*.example.com`,
    /// `https://example.com/a*`.
    private static func patterns(_ text: String) throws(InvalidValue) -> [SourcePattern] {
        var patterns: [SourcePattern] = []
        for member in try SettingParser.members.parse(text) {
            guard let rest = member.firstRange(of: "://").map({ String(member[$0.upperBound...]) }), !rest.isEmpty
            else {
                throw InvalidValue(allowed: "URLs such as https://example.com/photos, with commas between them")
            }
            let host = rest.prefix(before: UInt8(ascii: "/"))
            let path = rest[host.endIndex...]
            let ending = path.hasSuffix("*") ? String(path) : (path.hasSuffix("/") ? String(path) : path + "/") + "*"
            // A wildcard subdomain also matches the host without a subdomain.
            let hosts = host.suffix(after: "*.").map { [String(host), String($0)] } ?? [String(host)]
            for host in hosts {
                // A pattern without a scheme matches both schemes.
                guard let pattern = SourcePattern(host + ending) else {
                    throw InvalidValue(allowed: "URLs with a star before the host or at the end")
                }
                patterns.append(pattern)
            }
        }
        return patterns
    }
}
