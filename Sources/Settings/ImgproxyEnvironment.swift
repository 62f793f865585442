import Crypto
import Dialects
import Downloading
import HTTPServing
import HTTPTypes
import Recipes
import Telemetry
import Text
import ThumbnailAPI
import ThumbnailPipeline

struct ImgproxyEnvironment: OtherServiceReader {
    var settings: Settings
    var reading = OtherServiceEnvironment.Reading()
    var replacedSettings: [String] = []
    private var maximumAge: Int?
    private var passesCacheControl = false
    private var presetTexts: [String] = []
    private var localRoot: String?
    private var allowedSources: ImgproxyAllowedSources?

    private let variables: [ExactText: String]

    private static let prefix = "IMGPROXY_"
    private static let watermarkOrigin = "imgproxy-watermark"
    private static let localOrigin = "imgproxy-local"
    /// Former names of variables; the newer name takes precedence.
    private static let formerNames: [ExactText: ExactText] = [
        "CONCURRENCY": "WORKERS", "ENABLE_AVIF_DETECTION": "AUTO_AVIF", "ENABLE_JXL_DETECTION": "AUTO_JXL",
        "ENABLE_WEBP_DETECTION": "AUTO_WEBP", "READ_TIMEOUT": "READ_REQUEST_TIMEOUT", "WRITE_TIMEOUT": "TIMEOUT",
    ]

    init(_ settings: Settings, environment: [String: String]) {
        self.settings = settings
        self.settings.dialects.imgproxy.prefix = PathPrefix("/")
        variables = Dictionary(
            uniqueKeysWithValues: environment.filter { !$0.value.isEmpty }.map { (ExactText($0.key), $0.value) })
    }

    static let dialectName: ExactText = "imgproxy"

    static let keys = ["KEY", "SALT", "TRUSTED_SIGNATURES"].map { prefix + $0 }

    static func isSecret(_ name: String) -> Bool { (keys + [prefix + "SECRET"]).contains(name) }

    func row(of name: String) -> String? {
        guard let short = name.suffix(after: Self.prefix).map(String.init) else { return nil }
        if short.hasPrefix("ENV_") { return "ENV_" }
        return Self.formerNames[ExactText(short)].map { isSet($0) ? Self.outdated : $0.string } ?? short
    }

    private static let outdated = "(former)"

    private func isSet(_ name: ExactText) -> Bool { variables[ExactText("\(Self.prefix)\(name)")] != nil }

    private var dialect: ImgproxyConfiguration {
        get { settings.dialects.imgproxy }
        set { settings.dialects.imgproxy = newValue }
    }

    static let rows = targets + defaults + bounds + service

    private static let targets: [OtherServiceRow<Self>] = [
        OtherServiceRow("KEY", "imgproxyKeys"),
        OtherServiceRow("SALT", "imgproxySalts"),
        OtherServiceRow("SIGNATURE_SIZE", "imgproxySignatureSize"),
        OtherServiceRow("TRUSTED_SIGNATURES", "imgproxyTrustedSignatures"),
        OtherServiceRow("SECRET", rejected: "none: Authorization fields are not checked"),
        OtherServiceRow("USE_S3") { (_, text) throws(InvalidValue) in
            guard try !SettingParser.goFlag.parse(text) else {
                throw InvalidValue(allowed: "false: in Alula a bucket is a named origin, and its URLs are NAME:PATH")
            }
        },
        // These sources may contain keys.
        OtherServiceRow(
            "ENV_", rejected: "none: variables are not read from other places, and keys could be among them"),
        OtherServiceRow(
            "PATH_PREFIX", "imgproxyPath",
            as: .init { (text) throws(InvalidValue) in
                try SettingParser.path.parse(text.hasPrefix("/") ? text : "/" + text)
            }),
        OtherServiceRow("BASE_URL", "imgproxyBaseURL"),
        OtherServiceRow("URL_REPLACEMENTS", \.dialect.replacements, as: .init(replacements)),
        OtherServiceRow("ARGUMENTS_SEPARATOR", "imgproxyArgumentsSeparator"),
        OtherServiceRow("BASE64_URL_INCLUDES_FILENAME", \.dialect.ignoresNameAfterBase64, as: .goFlag),
        OtherServiceRow("ALLOW_SECURITY_OPTIONS", \.dialect.allowsSecurityOptions, as: .goFlag),
        OtherServiceRow("PRESETS", anyText, replacing: ["presets"]) { reader, text in
            let separator = reader.variables["IMGPROXY_PRESETS_SEPARATOR"] ?? ","
            reader.presetTexts += text.split(separator: separator).map(String.init)
        },
        OtherServiceRow("PRESETS_SEPARATOR", anyText, replacing: ["presets"]) { _, _ in },
        OtherServiceRow("PRESETS_PATH", replacing: ["presets"]) { (reader, text) throws(InvalidValue) in
            guard let lines = try? SettingsFile.read(text) else { throw InvalidValue(allowed: "a file of presets") }
            reader.presetTexts += lines.split(whereSeparator: \.isNewline).map(String.init)
        },
        OtherServiceRow("LOCAL_FILESYSTEM_ROOT", \.localRoot, as: .init { $0 }, replacing: ["origins.\(localOrigin)"]),
        OtherServiceRow("FALLBACK_IMAGE_URL", \.dialect.fallback, as: .init { ExactText($0) }),
        OtherServiceRow("TTL", \.maximumAge, as: .integer(in: 0...1_000_000_000)),
        OtherServiceRow("CACHE_CONTROL_PASSTHROUGH", \.passesCacheControl, as: .goFlag),
        OtherServiceRow("RETURN_ATTACHMENT", \.dialect.returnsAttachments, as: .goFlag),
        OtherServiceRow("WATERMARK_PATH") { (reader, text) throws(InvalidValue) in
            reader.dialect.watermark = try reader.addFile(text, as: watermarkOrigin)
        },
        OtherServiceRow(
            "WATERMARK_DATA",
            anyText.map(allowed: "base64 of a file") { text in Base64.decode(text).flatMap { $0.isEmpty ? nil : $0 } }
        ) { $0.dialect.watermark = $0.addFile("watermark", as: watermarkOrigin, at: .memory($1)) },
        OtherServiceRow("WATERMARK_URL", \.dialect.watermark, as: .init { ExactText($0) }),
    ]

    private static let defaults: [OtherServiceRow<Self>] =
        ["webp", "avif", "jxl"].flatMap { format in
            [("AUTO_", false), ("ENFORCE_", true)].map { prefix, isEnforced in
                OtherServiceRow(prefix + format.uppercased(), SettingParser.goFlag) {
                    if $1 { $0.dialect.defaults.negotiate(format, isEnforced: isEnforced) }
                }
            }
        } + [
            OtherServiceRow("PREFERRED_FORMATS") { (reader, text) throws(InvalidValue) in
                guard reader.dialect.defaults.prefer(try SettingParser.members.parse(text)) else {
                    throw InvalidValue(allowed: "formats such as jpeg,png,gif")
                }
            },
            OtherServiceRow("SKIP_PROCESSING_FORMATS") { (reader, text) throws(InvalidValue) in
                guard reader.dialect.defaults.skip(try SettingParser.members.parse(text)) else {
                    throw InvalidValue(allowed: "formats such as svg,gif")
                }
            },
            OtherServiceRow("QUALITY", \.dialect.defaults.quality, as: .integer(in: 1...100)),
            OtherServiceRow("FORMAT_QUALITY") { (reader, text) throws(InvalidValue) in
                for member in try SettingParser.members.parse(text) {
                    let fields = member.split(separator: "=", omittingEmptySubsequences: false).map(\.trimmingSpaces)
                    guard fields.count == 2,
                        reader.dialect.defaults.set(
                            quality: try SettingParser.integer(in: 1...100).parse(fields[1]), of: fields[0])
                    else { throw InvalidValue(allowed: "pairs such as avif=60,webp=75") }
                }
            },
            OtherServiceRow("AUTO_ROTATE", \.dialect.defaults.turnsUpright, as: .goFlag),
            OtherServiceRow("STRIP_METADATA", \.dialect.defaults.stripsMetadata, as: .goFlag),
            OtherServiceRow("KEEP_COPYRIGHT", \.dialect.defaults.keepsCopyright, as: .goFlag),
            OtherServiceRow("STRIP_COLOR_PROFILE", \.dialect.defaults.stripsColorProfile, as: .goFlag),
            OtherServiceRow(
                "USE_LINEAR_COLORSPACE", \.dialect.defaults.light,
                as: SettingParser.goFlag.map { $0 ? .linear : .gamma }),
            OtherServiceRow(
                "WATERMARK_OPACITY", \.dialect.defaults.watermarkOpacity,
                as: number.map(allowed: "a number above 0 and at most 1") { $0 > 0 && $0 <= 1 ? $0 : nil }),
        ]

    private static let bounds: [OtherServiceRow<Self>] = [
        OtherServiceRow("ALLOWED_PROCESSING_OPTIONS", \.dialect.allowedOptions, as: .set(.names)) { !$0.isEmpty },
        OtherServiceRow("ONLY_PRESETS", \.dialect.allowsOnlyPresets, as: .goFlag) { $0 },
        OtherServiceRow(
            "MAX_ANIMATION_FRAMES", \.dialect.defaults.maximumFrames, as: .integer(in: 1...1_000_000_000)
        ) { _ in true },
        OtherServiceRow("MAX_ANIMATION_FRAME_RESOLUTION", \.dialect.defaults.maximumFramePixels, as: pixels) { $0 > 0 },
        OtherServiceRow(
            "MAX_RESULT_DIMENSION", \.dialect.defaults.maximumSide, as: .integer(in: 0...1_000_000_000)
        ) { $0 > 0 },
    ]

    private static let service: [OtherServiceRow<Self>] = [
        OtherServiceRow("BIND") { (reader, text) throws(InvalidValue) in
            let (address, port) = try SettingParser.addressAndPort(examples: ":8080").parse(text)
            try reader.set("port", text: String(port))
            if !address.isEmpty { try reader.set("bind", text: String(address)) }
        },
        OtherServiceRow("PROMETHEUS_BIND", "metricsBind"),
        // In both services, OpenTelemetry's own variables name the collector.
        OtherServiceRow("OPEN_TELEMETRY_ENABLE", SettingParser.goFlag, replacing: ["traceEndpoint", "metricsEndpoint"])
        {
            if !$1 { $0.settings.exports.clearEndpoints(traces: true) }
        },
        OtherServiceRow("OPEN_TELEMETRY_ENABLE_METRICS", SettingParser.goFlag, replacing: ["metricsEndpoint"]) {
            if !$1 { $0.settings.exports.clearEndpoints(traces: false) }
        },
        OtherServiceRow("TIMEOUT", "requestTimeout", as: seconds),
        OtherServiceRow("DOWNLOAD_TIMEOUT", "downloadTimeout", as: seconds),
        OtherServiceRow("READ_REQUEST_TIMEOUT", "headerTimeout", as: seconds),
        OtherServiceRow("KEEP_ALIVE_TIMEOUT", "keepAliveTimeout", as: seconds),
        OtherServiceRow("GRACEFUL_STOP_TIMEOUT", "shutdownTimeout", as: seconds),
        OtherServiceRow("WORKERS", "renderWorkers", as: .unlessZero),
        OtherServiceRow("MAX_CLIENTS", "maxConnections", as: .unlessZero),
        OtherServiceRow("MAX_REDIRECTS", "maxRedirects"),
        OtherServiceRow("MAX_SRC_RESOLUTION", "maxSourcePixels", as: pixels.map { String(max(1, $0)) }),
        OtherServiceRow("MAX_SRC_FILE_SIZE", "maxSourceBytes", as: .unlessZero),
        OtherServiceRow("ALLOW_ORIGIN", "allowOrigin"),
        OtherServiceRow("USER_AGENT", "userAgent"),
        OtherServiceRow("JPEG_PROGRESSIVE", "jpegProgressive", as: .onOrOff),
        OtherServiceRow("WEBP_EFFORT", "webpEffort"),
        OtherServiceRow("JXL_EFFORT", "jxlEffort"),
        OtherServiceRow("AVIF_SPEED", "avifEffort", as: .avifSpeed),
        OtherServiceRow(
            "ALLOWED_SOURCES", \.allowedSources, as: .init(ImgproxyAllowedSources.init), replacing: ["allowedSources"]),
        opening("LOOPBACK", networks: ["127.0.0.0/8", "::1/128"]),
        opening("LINK_LOCAL", networks: ["169.254.0.0/16", "fe80::/10"]),
        opening("PRIVATE", networks: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]),
        OtherServiceRow("LOG_LEVEL", "logLevel", as: .init { $0 == "warn" ? "warning" : $0 }),
        OtherServiceRow("LOG_FORMAT", "logFormat", as: .init { $0 == "json" ? "json" : "text" }),
    ]

    private static func opening(_ kind: String, networks: [String]) -> OtherServiceRow<Self> {
        OtherServiceRow("ALLOW_\(kind)_SOURCE_ADDRESSES", SettingParser.goFlag, replacing: ["allowedNetworks"]) {
            if $1 { $0.settings.downloads.allowedNetworks += networks.compactMap { AddressNetwork($0) } }
        }
    }

    func isHarmless(_ row: String, text: String) -> Bool {
        let flag = try? SettingParser.goFlag.parse(text)
        return switch row {
        case "BUFFER_POOL_CALIBRATION_THRESHOLD", "CLIENT_KEEP_ALIVE_TIMEOUT", "DEVELOPMENT_ERRORS_MODE",
            "DISABLE_SHRINK_ON_LOAD", "DOWNLOAD_BUFFER_SIZE", "ETAG_BUSTER", "FREE_MEMORY_INTERVAL",
            "GZIP_BUFFER_SIZE", "GZIP_COMPRESSION", "LOG_MEM_STATS", "MALLOC", "MAX_SVG_CHECK_BYTES",
            "REPORT_DOWNLOADING_ERRORS", "REQUESTS_QUEUE_SIZE", "SANITIZE_SVG", "SERVER_NAME", "SO_REUSEPORT",
            "SYSLOG_TAG", "USE_ETAG", "USE_LAST_MODIFIED", "VIPS_CACHE_TRACE", "VIPS_LEAK_CHECK", Self.outdated:
            true
        // Alula always does this.
        case "ALWAYS_RASTERIZE_SVG": flag == true
        default: flag == false && !row.hasPrefix("ALLOW")
        }
    }

    mutating func finish() {
        if !passesCacheControl { settings.dialects.imgproxy.maximumAge = maximumAge }
        finishPresets()
        finishSources()
        finishSignatures()
    }
}

extension ImgproxyEnvironment {
    private mutating func finishPresets() {
        for text in presetTexts.map(\.trimmingSpaces) where !text.isEmpty && !text.hasPrefix("#") {
            let fields = text.split(separator: "=", omittingEmptySubsequences: false).map(\.trimmingSpaces)
            guard fields.count == 2, !fields[0].isEmpty, !fields[1].isEmpty else {
                let fault = InvalidValue(allowed: "NAME=OPTIONS")
                reading.problems.append(SettingsProblem("IMGPROXY_PRESETS", fault: fault, text: text).line)
                continue
            }
            settings.dialects.imgproxy.presets[ExactText(fields[0])] = fields[1]
        }
    }

    /// Allows files only if `local://` is among the sources.
    private mutating func finishSources() {
        if let allowedSources {
            settings.downloads.allowedSources = allowedSources.patterns
            settings.downloads.allowsUnnamedSources = !allowedSources.patterns.isEmpty
        }
        guard let localRoot, allowedSources?.includesFiles ?? true else { return }
        settings.dialects.imgproxy.localOrigin = Self.localOrigin
        settings.dialects.origins.append(Origin(name: Self.localOrigin, location: .folder(path: localRoot)))
    }

    private mutating func finishSignatures() {
        if settings.dialects.imgproxy.keys.count != settings.dialects.imgproxy.salts.count {
            reading.problems.append("IMGPROXY_KEY and IMGPROXY_SALT: each key needs a salt")
        }
    }

    private static let seconds = SettingParser<String?> { text in
        text.utf8.allSatisfy(\.isASCIIDigit) ? text + "s" : text
    }

    private static let pixels = number.map { Int($0 * 1_000_000) }

    private static let number = SettingParser(allowed: "a number from 0 to 1000000") { text in
        text.utf8.count <= 16 ? Double(text).flatMap { $0 >= 0 && $0 <= 1_000_000 ? $0 : nil } : nil
    }

    private static let anyText = SettingParser<String> { $0 }

    private static func replacements(_ text: String) throws(InvalidValue) -> [ImgproxyReplacement] {
        var replacements: [ImgproxyReplacement] = []
        for pair in text.split(separator: ";") {
            let fields = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 2,
                let replacement = ImgproxyReplacement(
                    pattern: fields[0].trimmingSpaces, replacement: fields[1].trimmingSpaces)
            else { throw InvalidValue(allowed: "PATTERN=REPLACEMENT with at most four stars, separated by semicolons") }
            replacements.append(replacement)
        }
        return replacements
    }
}

struct ImgproxyAllowedSources {
    /// The patterns, where a star matches any text without a slash.
    private(set) var patterns: [SourcePattern] = []
    private(set) var includesFiles = false

    private static let fileScheme = "local"

    /// Reads patterns separated by commas; prefixes of unsupported stores allow nothing.
    init(_ text: String) throws(InvalidValue) {
        for member in try SettingParser.members.parse(text) {
            let scheme = member.prefix(before: UInt8(ascii: ":")).asciiLowercased
            let rest = member.utf8.dropFirst(scheme.utf8.count)
            guard rest.starts(with: "://".utf8) else { throw Self.fault }
            switch scheme {
            case Self.fileScheme:
                guard rest.dropFirst(3).allSatisfy({ $0 == UInt8(ascii: "/") }) else {
                    throw InvalidValue(allowed: "local:// for all files: parts of their folder cannot be allowed")
                }
                includesFiles = true
            case "http", "https":
                // A scheme without a host allows all hosts.
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
