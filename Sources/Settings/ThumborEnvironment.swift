import Dialects
import Downloading
import Recipes
import Text
import ThumbnailAPI
import ThumbnailPipeline

/// The options of thumbor's configuration, which its containers read from variables of the same names; values are
/// Python's: `True`, `None`, `'text'`, `['a', 'b']`.
struct ThumborEnvironment: OtherServiceReader {
    var settings: Settings
    var reading = OtherServiceEnvironment.Reading()
    var replacedSettings: [String] = []
    private var automatic: Set<ImageFormat> = []
    private var servesUnsafe = true
    private var loader = Loader.http
    private var folder: String?

    private enum Loader { case http, https, strictHTTPS, file }

    private static let origin = "thumbor-files"

    init(_ settings: Settings, environment: [String: String]) {
        self.settings = settings
        self.settings.dialects.thumbor.prefix = PathPrefix("/")
    }

    static let dialectName: ExactText = "thumbor"

    static let keys = ["SECURITY_KEY"]

    static func isSecret(_ name: String) -> Bool { keys.contains(name) }

    func row(of name: String) -> String? {
        Self.rows.contains { $0.name == name } || Self.otherNames.contains(ExactText(name))
            || Self.otherPrefixes.contains(where: name.hasPrefix) ? name : nil
    }

    static let rows = targets + sources + service

    private var dialect: ThumborConfiguration {
        get { settings.dialects.thumbor }
        set { settings.dialects.thumbor = newValue }
    }

    private static let targets: [OtherServiceRow<Self>] = [
        OtherServiceRow("SECURITY_KEY", "thumborKey", as: unquoted.map { Optional($0 == "None" ? "" : $0) }),
        OtherServiceRow("ALLOW_UNSAFE_URL", \.servesUnsafe, as: flag, replacing: ["thumborUnsafe"]),
        OtherServiceRow("QUALITY", \.dialect.quality, as: .integer(in: 1...100)),
        OtherServiceRow("MAX_AGE", \.dialect.maximumAge, as: .integer(in: 0...31_556_926)),
        automatic("AUTO_AVIF", format: .avif), automatic("AUTO_WEBP", format: .webp),
        OtherServiceRow("AUTO_PNG_TO_JPG", "thumborAutoJPEG", as: flag.map { Optional($0 ? "on" : "off") }),
        OtherServiceRow("PRESERVE_EXIF_INFO", flag) { _, _ in },
    ]

    private static let sources: [OtherServiceRow<Self>] = [
        OtherServiceRow(
            "ALLOWED_SOURCES", \.settings.downloads.allowedSources, as: .init(patterns), replacing: ["allowedSources"]),
        OtherServiceRow(
            "LOADER",
            .named(
                [
                    "thumbor.loaders.http_loader": Loader.http, "thumbor.loaders.https_loader": .https,
                    "thumbor.loaders.strict_https_loader": .strictHTTPS, "thumbor.loaders.file_loader": .file,
                ],
                allowed:
                    "http_loader, https_loader, strict_https_loader or file_loader of thumbor.loaders; other storages "
                    + "are named origins"),
            replacing: ["thumborBaseURL", "allowedSources"]
        ) { $0.loader = $1 },
        OtherServiceRow(
            "FILE_LOADER_ROOT_PATH", \.folder, as: .init(allowed: "a folder") { resolved($0) },
            replacing: ["origins.\(origin)"]),
        OtherServiceRow("HTTP_LOADER_MAX_BODY_SIZE", "maxSourceBytes", as: .unlessZero),
        OtherServiceRow("MAX_SOURCE_SIZE", "maxSourceBytes", as: .unlessZero),
        OtherServiceRow("MAX_PIXELS", "maxSourcePixels", as: number.map { $0.map(String.init) }),
        OtherServiceRow("HTTP_LOADER_REQUEST_TIMEOUT", "downloadTimeout", as: .init { $0 + "s" }),
        OtherServiceRow("HTTP_LOADER_CONNECT_TIMEOUT", "connectTimeout", as: .init { $0 + "s" }),
        OtherServiceRow("HTTP_LOADER_MAX_REDIRECTS", "maxRedirects"),
        OtherServiceRow("HTTP_LOADER_MAX_CLIENTS", "maxActiveDownloads"),
        OtherServiceRow("HTTP_LOADER_DEFAULT_USER_AGENT", "userAgent", as: unquoted.map(Optional.some)),
    ]

    private static let service: [OtherServiceRow<Self>] = [
        OtherServiceRow("THUMBOR_PORT", "port"),
        OtherServiceRow("PORT", "port"),
    ]

    private static let otherNames: Set<ExactText> = [
        "APP_CLASS", "AVIF_QUALITY", "DETECTORS", "ENGINE", "ENGINE_THREADPOOL_SIZE", "FILTERS", "MAX_HEIGHT",
        "MAX_WIDTH", "METRICS", "MIN_HEIGHT", "MIN_WIDTH", "OPTIMIZERS", "RESPECT_ORIENTATION", "RESULT_STORAGE",
        "STORAGE", "URL_SIGNER", "USE_BLACKLIST", "WEBP_QUALITY",
    ]
    private static let otherPrefixes = [
        "FILE_STORAGE_", "GC_INTERVAL", "HTTP_LOADER_", "MIXED_STORAGE_", "REDIS_", "RESULT_STORAGE_", "SENTRY_",
        "STATSD_", "STORAGE_", "THUMBOR_", "UPLOAD_",
    ]

    func isHarmless(_ row: String, text: String) -> Bool {
        switch row {
        case "ENGINE", "ENGINE_THREADPOOL_SIZE", "GC_INTERVAL", "STORAGE", "THUMBOR_NUM_PROCESSES":
            true
        case "RESPECT_ORIENTATION": (try? Self.flag.parse(text)) == true
        default: (try? Self.flag.parse(text)) == false || ["None", "[]", "0"].contains(text)
        }
    }

    mutating func finish() {
        dialect.automaticFormats = [.avif, .webp].filter { automatic.contains($0) }
        dialect.servesUnsafe = servesUnsafe && dialect.key == nil ? nil : servesUnsafe
        switch loader {
        case .http: break
        case .https: dialect.baseURL = "https://"
        case .strictHTTPS:
            dialect.baseURL = "https://"
            let hosts = settings.downloads.allowedSources.map(\.description)
            settings.downloads.allowedSources = (hosts.isEmpty ? ["*"] : hosts).compactMap {
                SourcePattern("https://" + $0)
            }
        case .file:
            settings.downloads.allowsUnnamedSources = false
            guard let folder else {
                reading.problems.append("LOADER: thumbor.loaders.file_loader needs FILE_LOADER_ROOT_PATH")
                return
            }
            dialect.baseURL = SourceBase("\(Self.origin):")
            settings.dialects.origins.append(Origin(name: Self.origin, location: .folder(path: folder)))
        }
    }

    private static func automatic(_ name: String, format: ImageFormat) -> OtherServiceRow<Self> {
        OtherServiceRow(name, flag, replacing: ["thumborAutoFormats"]) { reader, isOn in
            if isOn { reader.automatic.insert(format) }
        }
    }

    private static let flag: SettingParser<Bool> = .named(
        ["True": true, "true": true, "1": true, "False": false, "false": false, "0": false, "None": false],
        allowed: "True or False")

    private static let unquoted = SettingParser<String> { text in
        for quote in ["'", "\""] where text.utf8.count > 1 && text.hasPrefix(quote) && text.hasSuffix(quote) {
            return String(text.dropFirst().dropLast())
        }
        return text
    }

    /// Reads a whole number, which may be written as `75e6`; nil for `None`.
    private static let number = SettingParser<Int?>(allowed: "a number from 0 to 1e15") { text in
        guard let number = Double(text == "None" ? "0" : text), 0...1e15 ~= number else { return nil }
        return .some(number > 0 ? Int(number) : nil)
    }

    /// Reads hosts as regular expressions that match the whole name: `s.example.com`, `.+\.example\.com`.
    private static func patterns(_ text: String) throws(InvalidValue) -> [SourcePattern] {
        let list = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        if list.trimmingSpaces.isEmpty { return [] }
        var patterns: [SourcePattern] = []
        for member in try SettingParser.members.parse(list) {
            var host = try unquoted.parse(member)
            if ["*", ".*", ".+"].contains(host) { return [] }
            if host.hasPrefix("http") { host = host.replacing(/^https?:\/\//, with: "") }
            host = host.replacing(/^(\.[+*]|\[\^\.\][+*])\\?\./, with: "*.").replacing("\\.", with: ".")
            // thumbor compares only host names.
            guard
                host.drop(while: { $0 == "*" }).utf8.allSatisfy({ $0.isASCIIAlphanumeric || ".-:".utf8.contains($0) }),
                let pattern = SourcePattern(host + (host.contains(":") ? "/*" : ":*/*"))
            else {
                throw InvalidValue(
                    allowed: "hosts such as s.example.com and .+\\.example\\.com; allowedSources has patterns")
            }
            patterns.append(pattern)
        }
        return patterns
    }
}
