import Crypto
import Dialects
import Downloading
import HTTPServing
import Imaging
import Telemetry
import Text
import ThumbnailAPI
import ThumbnailPipeline

struct ImgproxyEnvironment: ForeignReader {
    var settings: Settings
    var reading = ForeignEnvironment.Reading()
    var meant: [String] = []
    private var maximumAge: Int?
    private var passesCacheControl = false
    private var presetTexts: [String] = []
    private var localRoot: String?
    private var allowedSources: ImgproxyAllowedSources?

    private let variables: [ExactText: String]

    private static let prefix = "IMGPROXY_"
    private static let watermarkOrigin = "imgproxy-watermark"
    private static let localOrigin = "imgproxy-local"
    /// Version 3 names with their version 4 names; the newer one wins if both are set.
    private static let formerNames: [ExactText: ExactText] = [
        "CONCURRENCY": "WORKERS", "ENABLE_AVIF_DETECTION": "AUTO_AVIF", "ENABLE_JXL_DETECTION": "AUTO_JXL",
        "ENABLE_WEBP_DETECTION": "AUTO_WEBP", "READ_TIMEOUT": "READ_REQUEST_TIMEOUT", "WRITE_TIMEOUT": "TIMEOUT",
    ]

    init(_ settings: Settings, _ environment: [String: String]) {
        self.settings = settings
        self.settings.dialects.imgproxy.place = DialectPlace("/")
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

    private static let targets: [ForeignRow<Self>] = [
        ForeignRow("KEY", "imgproxyKeys"),
        ForeignRow("SALT", "imgproxySalts"),
        ForeignRow("SIGNATURE_SIZE", "imgproxySignatureSize"),
        ForeignRow("TRUSTED_SIGNATURES", "imgproxyTrustedSignatures"),
        ForeignRow("SECRET", refused: "none: requests with an Authorization field are not told apart here"),
        // These sources may contain keys.
        ForeignRow("ENV_", refused: "none: variables are not read from other places, and keys could be among them"),
        ForeignRow(
            "PATH_PREFIX", "imgproxyPath",
            .init { (text) throws(InvalidValue) in
                try SettingParser.path.parse(text.hasPrefix("/") ? text : "/" + text)
            }),
        ForeignRow("BASE_URL", "imgproxyBaseURL"),
        ForeignRow("URL_REPLACEMENTS", \.dialect.replacements, .init(replacements)),
        ForeignRow("ARGUMENTS_SEPARATOR", "imgproxyArgumentsSeparator"),
        ForeignRow("BASE64_URL_INCLUDES_FILENAME", \.dialect.ignoresNameAfterBase64, .goFlag),
        ForeignRow("ALLOW_SECURITY_OPTIONS", \.dialect.allowsSecurityOptions, .goFlag),
        ForeignRow("PRESETS", anyText, meant: ["presets"]) { reader, text in
            let separator = reader.variables["IMGPROXY_PRESETS_SEPARATOR"] ?? ","
            reader.presetTexts += text.split(separator: separator).map(String.init)
        },
        ForeignRow("PRESETS_SEPARATOR", anyText, meant: ["presets"]) { _, _ in },
        ForeignRow("PRESETS_PATH", meant: ["presets"]) { (reader, text) throws(InvalidValue) in
            guard let lines = try? SettingsFile.read(text) else { throw InvalidValue(allowed: "a file of presets") }
            reader.presetTexts += lines.split(whereSeparator: \.isNewline).map(String.init)
        },
        ForeignRow("LOCAL_FILESYSTEM_ROOT", \.localRoot, .init { $0 }, meant: ["origins.\(localOrigin)"]),
        ForeignRow("FALLBACK_IMAGE_URL", \.dialect.fallback, .init { ExactText($0) }),
        ForeignRow("TTL", \.maximumAge, .integer(in: 0...1_000_000_000)),
        ForeignRow("CACHE_CONTROL_PASSTHROUGH", \.passesCacheControl, .goFlag),
        ForeignRow("RETURN_ATTACHMENT", \.dialect.savesAnswers, .goFlag),
        ForeignRow("WATERMARK_PATH") { (reader, text) throws(InvalidValue) in
            reader.dialect.watermark = try reader.addFile(text, as: watermarkOrigin)
        },
        ForeignRow(
            "WATERMARK_DATA",
            anyText.map(allowed: "base64 of a file") { text in Base64.decode(text).flatMap { $0.isEmpty ? nil : $0 } }
        ) { $0.dialect.watermark = $0.addFile("watermark", as: watermarkOrigin, at: .memory($1)) },
        ForeignRow("WATERMARK_URL", \.dialect.watermark, .init { ExactText($0) }),
    ]

    private static let defaults: [ForeignRow<Self>] =
        ["webp", "avif", "jxl"].flatMap { format in
            [("AUTO_", false), ("ENFORCE_", true)].map { prefix, isEnforced in
                ForeignRow(prefix + format.uppercased(), SettingParser.goFlag) {
                    if $1 { $0.dialect.defaults.negotiate(format, isEnforced: isEnforced) }
                }
            }
        } + [
            ForeignRow("PREFERRED_FORMATS") { (reader, text) throws(InvalidValue) in
                guard reader.dialect.defaults.prefer(try SettingValues.list(text)) else {
                    throw InvalidValue(allowed: "formats such as jpeg,png,gif")
                }
            },
            ForeignRow("SKIP_PROCESSING_FORMATS") { (reader, text) throws(InvalidValue) in
                guard reader.dialect.defaults.skip(try SettingValues.list(text)) else {
                    throw InvalidValue(allowed: "formats such as svg,gif")
                }
            },
            ForeignRow("QUALITY", \.dialect.defaults.quality, .integer(in: 1...100)),
            ForeignRow("FORMAT_QUALITY") { (reader, text) throws(InvalidValue) in
                for member in try SettingValues.list(text) {
                    let parts = member.split(separator: "=", omittingEmptySubsequences: false).map(\.trimmingSpaces)
                    guard parts.count == 2,
                        reader.dialect.defaults.set(
                            quality: try SettingValues.integer(parts[1], in: 1...100), of: parts[0])
                    else { throw InvalidValue(allowed: "pairs such as avif=60,webp=75") }
                }
            },
            ForeignRow("AUTO_ROTATE", \.dialect.defaults.turnsUpright, .goFlag),
            ForeignRow("STRIP_METADATA", \.dialect.defaults.stripsMetadata, .goFlag),
            ForeignRow("KEEP_COPYRIGHT", \.dialect.defaults.keepsCopyright, .goFlag),
            ForeignRow("STRIP_COLOR_PROFILE", \.dialect.defaults.stripsColorProfile, .goFlag),
            ForeignRow(
                "USE_LINEAR_COLORSPACE", \.dialect.defaults.light, SettingParser.goFlag.map { $0 ? .linear : .gamma }),
            ForeignRow(
                "WATERMARK_OPACITY", \.dialect.defaults.watermarkOpacity,
                number.map(allowed: "a number above 0 and at most 1") { $0 > 0 && $0 <= 1 ? $0 : nil }),
        ]

    /// Variables that restrict imgproxy's targets.
    private static let bounds: [ForeignRow<Self>] = [
        ForeignRow("ALLOWED_PROCESSING_OPTIONS", \.dialect.allowedOptions, .set(.names)) { !$0.isEmpty },
        ForeignRow("ONLY_PRESETS", \.dialect.allowsOnlyPresets, .goFlag) { $0 },
        ForeignRow(
            "MAX_ANIMATION_FRAMES", \.dialect.defaults.maximumFrames, .integer(in: 1...1_000_000_000)
        ) { _ in true },
        ForeignRow("MAX_ANIMATION_FRAME_RESOLUTION", \.dialect.defaults.maximumFramePixels, pixels) { $0 > 0 },
        ForeignRow(
            "MAX_RESULT_DIMENSION", \.dialect.defaults.maximumSide, .integer(in: 0...1_000_000_000)
        ) { $0 > 0 },
    ]

    private static let service: [ForeignRow<Self>] = [
        ForeignRow("BIND") { (reader, text) throws(InvalidValue) in
            guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
                let port = UInt16(text[text.utf8.index(after: colon)...])
            else { throw InvalidValue(allowed: "an address and a port such as :8080") }
            let address = text[..<colon]
            try reader.set("port", String(port))
            if !address.isEmpty { try reader.set("bind", String(address)) }
        },
        ForeignRow("PROMETHEUS_BIND", "metricsBind"),
        // In both services, OpenTelemetry's own variables name the collector.
        ForeignRow("OPEN_TELEMETRY_ENABLE", SettingParser.goFlag, meant: ["traceEndpoint", "metricsEndpoint"]) {
            if !$1 { $0.settings.exports.clearEndpoints(traces: true) }
        },
        ForeignRow("OPEN_TELEMETRY_ENABLE_METRICS", SettingParser.goFlag, meant: ["metricsEndpoint"]) {
            if !$1 { $0.settings.exports.clearEndpoints(traces: false) }
        },
        ForeignRow("TIMEOUT", "requestTimeout", seconds),
        ForeignRow("DOWNLOAD_TIMEOUT", "downloadTimeout", seconds),
        ForeignRow("READ_REQUEST_TIMEOUT", "headerTimeout", seconds),
        ForeignRow("KEEP_ALIVE_TIMEOUT", "keepAliveTimeout", seconds),
        ForeignRow("GRACEFUL_STOP_TIMEOUT", "shutdownTimeout", seconds),
        ForeignRow("WORKERS", "renderWorkers", .unlessZero),
        ForeignRow("MAX_CLIENTS", "maxConnections", .unlessZero),
        ForeignRow("MAX_REDIRECTS", "maxRedirects"),
        ForeignRow("MAX_SRC_RESOLUTION", "maxSourcePixels", pixels.map { String(max(1, $0)) }),
        ForeignRow("MAX_SRC_FILE_SIZE", "maxSourceBytes", .unlessZero),
        ForeignRow("ALLOW_ORIGIN", "allowOrigin"),
        ForeignRow("USER_AGENT", "userAgent"),
        ForeignRow("JPEG_PROGRESSIVE", "jpegProgressive", .onOrOff),
        ForeignRow("WEBP_EFFORT", "webpEffort"),
        ForeignRow("JXL_EFFORT", "jxlEffort"),
        ForeignRow("AVIF_SPEED", "avifEffort", .avifSpeed),
        ForeignRow("ALLOWED_SOURCES", \.allowedSources, .init(ImgproxyAllowedSources.init), meant: ["allowedSources"]),
        opening("LOOPBACK", ["127.0.0.0/8", "::1/128"]),
        opening("LINK_LOCAL", ["169.254.0.0/16", "fe80::/10"]),
        opening("PRIVATE", ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]),
        ForeignRow("LOG_LEVEL", "logLevel", .init { $0 == "warn" ? "warning" : $0 }),
        ForeignRow("LOG_FORMAT", "logFormat", .init { $0 == "json" ? "json" : "text" }),
    ]

    private static func opening(_ kind: String, _ networks: [String]) -> ForeignRow<Self> {
        ForeignRow("ALLOW_\(kind)_SOURCE_ADDRESSES", SettingParser.goFlag, meant: ["allowedNetworks"]) {
            if $1 { $0.settings.downloads.allowedNetworks += networks.compactMap { AddressNetwork($0) } }
        }
    }

    func isHarmless(_ row: String, _ text: String) -> Bool {
        let flag = try? SettingParser.goFlag.parse(text)
        return switch row {
        case "BUFFER_POOL_CALIBRATION_THRESHOLD", "CLIENT_KEEP_ALIVE_TIMEOUT", "DEVELOPMENT_ERRORS_MODE",
            "DISABLE_SHRINK_ON_LOAD", "DOWNLOAD_BUFFER_SIZE", "ETAG_BUSTER", "FREE_MEMORY_INTERVAL",
            "GZIP_BUFFER_SIZE", "GZIP_COMPRESSION", "LOG_MEM_STATS", "MALLOC", "MAX_SVG_CHECK_BYTES",
            "REPORT_DOWNLOADING_ERRORS", "REQUESTS_QUEUE_SIZE", "SANITIZE_SVG", "SERVER_NAME", "SO_REUSEPORT",
            "SYSLOG_TAG", "USE_ETAG", "USE_LAST_MODIFIED", "VIPS_CACHE_TRACE", "VIPS_LEAK_CHECK", Self.outdated:
            true
        // Always on.
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
            let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(\.trimmingSpaces)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                let fault = InvalidValue(allowed: "NAME=OPTIONS")
                reading.problems.append(SettingsProblem("IMGPROXY_PRESETS", fault, text: text).line)
                continue
            }
            settings.dialects.imgproxy.presets[ExactText(parts[0])] = parts[1]
        }
    }

    /// Restricts sources to those that the variables allow: files only if `local://` is among them.
    private mutating func finishSources() {
        if let allowedSources {
            settings.downloads.allowedSources = allowedSources.patterns
            settings.downloads.allowsUnnamedSources = !allowedSources.patterns.isEmpty
        }
        guard let localRoot, allowedSources?.includesFiles ?? true else { return }
        settings.dialects.imgproxy.localOrigin = Self.localOrigin
        settings.dialects.origins.append(Origin(name: Self.localOrigin, place: .folder(path: localRoot)))
    }

    private mutating func finishSignatures() {
        if settings.dialects.imgproxy.keys.count != settings.dialects.imgproxy.salts.count {
            reading.problems.append("IMGPROXY_KEY and IMGPROXY_SALT: allowed are as many salts as keys")
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
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2,
                let replacement = ImgproxyReplacement(
                    pattern: parts[0].trimmingSpaces, replacement: parts[1].trimmingSpaces)
            else { throw InvalidValue(allowed: "PATTERN=REPLACEMENT with at most four stars, separated by semicolons") }
            replacements.append(replacement)
        }
        return replacements
    }
}
