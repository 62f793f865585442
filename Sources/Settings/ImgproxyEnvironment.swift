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

    static let keys = ["KEY", "SALT", "TRUSTED_SIGNATURES"].map { prefix + $0 }

    static func isSecret(_ name: String) -> Bool { (keys + [prefix + "SECRET"]).contains(name) }

    mutating func meaning(of name: String, _ text: String) throws(InvalidValue) -> ForeignVariable.Meaning? {
        guard var short = name.suffix(after: Self.prefix).map(String.init) else { return nil }
        if let newer = Self.formerNames[ExactText(short)] {
            guard variables[ExactText("\(Self.prefix)\(newer)")] == nil else { return .harmless }
            short = newer.string
        }
        if try readDialect(short, text) { return .counts(meant) }
        if try readDefaults(short, text) { return .counts(meant) }
        if try readBounds(short, text) { return .counts(meant) }
        if try readService(short, text) { return .counts(meant) }
        return Self.isHarmless(short, text) ? .harmless : .lost
    }

    mutating func finish() {
        if !passesCacheControl { settings.dialects.imgproxy.maximumAge = maximumAge }
        finishPresets()
        finishSources()
        finishSignatures()
    }

    /// Reads variables for parsing targets.
    private mutating func readDialect(_ name: String, _ text: String) throws(InvalidValue) -> Bool {
        switch name {
        case "KEY": try set("imgproxyKeys", text)
        case "SALT": try set("imgproxySalts", text)
        case "SIGNATURE_SIZE": try set("imgproxySignatureSize", text)
        case "TRUSTED_SIGNATURES": try set("imgproxyTrustedSignatures", text)
        case "SECRET" where !text.isEmpty:
            throw InvalidValue(allowed: "none: requests with an Authorization field are not told apart here")
        case _ where name.hasPrefix("ENV_"):
            // These sources may contain keys.
            throw InvalidValue(allowed: "none: variables are not read from other places, and keys could be among them")
        case "PATH_PREFIX":
            let path = text.hasPrefix("/") ? text : "/" + text
            try set("imgproxyPath", path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path)
        case "BASE_URL": try set("imgproxyBaseURL", text)
        case "URL_REPLACEMENTS": settings.dialects.imgproxy.replacements = try Self.replacements(text)
        case "ARGUMENTS_SEPARATOR": try set("imgproxyArgumentsSeparator", text)
        case "BASE64_URL_INCLUDES_FILENAME":
            settings.dialects.imgproxy.ignoresNameAfterBase64 = try Self.flag(text)
        case "ALLOW_SECURITY_OPTIONS": settings.dialects.imgproxy.allowsSecurityOptions = try Self.flag(text)
        case "PRESETS":
            meant = ["presets"]
            presetTexts += Self.parts(of: text, separator: variables["IMGPROXY_PRESETS_SEPARATOR"] ?? ",")
        case "PRESETS_SEPARATOR": meant = ["presets"]
        case "PRESETS_PATH":
            guard let lines = try? SettingsFile.read(text) else { throw InvalidValue(allowed: "a file of presets") }
            meant = ["presets"]
            presetTexts += lines.split(whereSeparator: \.isNewline).map(String.init)
        case "LOCAL_FILESYSTEM_ROOT":
            meant = ["origins.\(Self.localOrigin)"]
            localRoot = text
        case "FALLBACK_IMAGE_URL": settings.dialects.imgproxy.fallback = ExactText(text)
        case "TTL": maximumAge = try SettingValues.integer(text, in: 0...1_000_000_000)
        case "CACHE_CONTROL_PASSTHROUGH": passesCacheControl = try Self.flag(text)
        case "RETURN_ATTACHMENT": settings.dialects.imgproxy.savesAnswers = try Self.flag(text)
        case "WATERMARK_PATH": try readWatermark(path: text)
        case "WATERMARK_DATA":
            guard let bytes = Base64.decode(text), !bytes.isEmpty else {
                throw InvalidValue(allowed: "base64 of a file")
            }
            watermark(named: "watermark", at: .memory(bytes))
        case "WATERMARK_URL": settings.dialects.imgproxy.watermark = ExactText(text)
        default: return false
        }
        return true
    }

    /// Reads variables with defaults for options.
    private mutating func readDefaults(_ name: String, _ text: String) throws(InvalidValue) -> Bool {
        switch name {
        case "AUTO_WEBP", "AUTO_AVIF", "AUTO_JXL", "ENFORCE_WEBP", "ENFORCE_AVIF", "ENFORCE_JXL":
            let format = name.suffix(after: "AUTO_") ?? name.suffix(after: "ENFORCE_") ?? ""
            if try Self.flag(text) {
                settings.dialects.imgproxy.defaults.negotiate(
                    String(format).asciiLowercased, isEnforced: name.hasPrefix("ENFORCE_"))
            }
        case "PREFERRED_FORMATS":
            guard settings.dialects.imgproxy.defaults.prefer(try SettingValues.list(text)) else {
                throw InvalidValue(allowed: "formats such as jpeg,png,gif")
            }
        case "SKIP_PROCESSING_FORMATS":
            guard settings.dialects.imgproxy.defaults.skip(try SettingValues.list(text)) else {
                throw InvalidValue(allowed: "formats such as svg,gif")
            }
        case "QUALITY": settings.dialects.imgproxy.defaults.quality = try SettingValues.integer(text, in: 1...100)
        case "FORMAT_QUALITY":
            for member in try SettingValues.list(text) {
                let parts = member.split(separator: "=", omittingEmptySubsequences: false).map(\.trimmingSpaces)
                guard parts.count == 2,
                    settings.dialects.imgproxy.defaults.set(
                        quality: try SettingValues.integer(parts[1], in: 1...100), of: parts[0])
                else { throw InvalidValue(allowed: "pairs such as avif=60,webp=75") }
            }
        case "AUTO_ROTATE": settings.dialects.imgproxy.defaults.turnsUpright = try Self.flag(text)
        case "STRIP_METADATA": settings.dialects.imgproxy.defaults.stripsMetadata = try Self.flag(text)
        case "KEEP_COPYRIGHT": settings.dialects.imgproxy.defaults.keepsCopyright = try Self.flag(text)
        case "STRIP_COLOR_PROFILE": settings.dialects.imgproxy.defaults.stripsColorProfile = try Self.flag(text)
        case "USE_LINEAR_COLORSPACE":
            settings.dialects.imgproxy.defaults.light = try Self.flag(text) ? .linear : .gamma
        case "WATERMARK_OPACITY":
            let opacity = try Self.number(text)
            guard opacity > 0, opacity <= 1 else { throw InvalidValue(allowed: "a number above 0 and at most 1") }
            settings.dialects.imgproxy.defaults.watermarkOpacity = opacity
        default: return false
        }
        return true
    }

    /// Reads variables that restrict imgproxy's targets, which another dialect could bypass.
    private mutating func readBounds(_ name: String, _ text: String) throws(InvalidValue) -> Bool {
        let isBound: Bool
        switch name {
        case "ALLOWED_PROCESSING_OPTIONS":
            settings.dialects.imgproxy.allowedOptions = Set(try SettingValues.list(text).map { ExactText($0) })
            isBound = !settings.dialects.imgproxy.allowedOptions.isEmpty
        case "ONLY_PRESETS":
            settings.dialects.imgproxy.allowsOnlyPresets = try Self.flag(text)
            isBound = settings.dialects.imgproxy.allowsOnlyPresets
        case "MAX_ANIMATION_FRAMES":
            settings.dialects.imgproxy.defaults.maximumFrames = try SettingValues.integer(text, in: 1...1_000_000_000)
            isBound = true
        case "MAX_ANIMATION_FRAME_RESOLUTION":
            let pixels = Int(try Self.number(text) * 1_000_000)
            settings.dialects.imgproxy.defaults.maximumFramePixels = pixels
            isBound = pixels > 0
        case "MAX_RESULT_DIMENSION":
            let side = try SettingValues.integer(text, in: 0...1_000_000_000)
            settings.dialects.imgproxy.defaults.maximumSide = side
            isBound = side > 0
        default: return false
        }
        if isBound { settings.dialects.bounded.insert("imgproxy") }
        return true
    }

    /// Returns whether ignoring a variable has no effect.
    private static func isHarmless(_ name: String, _ text: String) -> Bool {
        switch name {
        case "BUFFER_POOL_CALIBRATION_THRESHOLD", "CLIENT_KEEP_ALIVE_TIMEOUT", "DEVELOPMENT_ERRORS_MODE",
            "DISABLE_SHRINK_ON_LOAD", "DOWNLOAD_BUFFER_SIZE", "ETAG_BUSTER", "FREE_MEMORY_INTERVAL",
            "GZIP_BUFFER_SIZE", "GZIP_COMPRESSION", "LOG_MEM_STATS", "MALLOC", "MAX_SVG_CHECK_BYTES",
            "REPORT_DOWNLOADING_ERRORS", "REQUESTS_QUEUE_SIZE", "SANITIZE_SVG", "SERVER_NAME", "SO_REUSEPORT",
            "SYSLOG_TAG", "USE_ETAG", "USE_LAST_MODIFIED", "VIPS_CACHE_TRACE", "VIPS_LEAK_CHECK":
            true
        // Always on.
        case "ALWAYS_RASTERIZE_SVG": (try? flag(text)) == true
        default: (try? flag(text)) == false && !name.hasPrefix("ALLOW")
        }
    }

    /// Reads variables of the whole service.
    private mutating func readService(_ name: String, _ text: String) throws(InvalidValue) -> Bool {
        switch name {
        case "BIND":
            guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
                let port = UInt16(text[text.utf8.index(after: colon)...])
            else { throw InvalidValue(allowed: "an address and a port such as :8080") }
            let address = text[..<colon]
            try set("port", String(port))
            if !address.isEmpty { try set("bind", String(address)) }
        case "PROMETHEUS_BIND": try set("metricsBind", text)
        // In both services, OpenTelemetry's own variables name the collector.
        case "OPEN_TELEMETRY_ENABLE":
            meant = ["traceEndpoint", "metricsEndpoint"]
            if try !Self.flag(text) { settings.exports.clearEndpoints(traces: true) }
        case "OPEN_TELEMETRY_ENABLE_METRICS":
            meant = ["metricsEndpoint"]
            if try !Self.flag(text) { settings.exports.clearEndpoints(traces: false) }
        case "TIMEOUT": try set("requestTimeout", Self.seconds(text))
        case "DOWNLOAD_TIMEOUT": try set("downloadTimeout", Self.seconds(text))
        case "READ_REQUEST_TIMEOUT": try set("headerTimeout", Self.seconds(text))
        case "KEEP_ALIVE_TIMEOUT": try set("keepAliveTimeout", Self.seconds(text))
        case "GRACEFUL_STOP_TIMEOUT": try set("shutdownTimeout", Self.seconds(text))
        case "WORKERS": if text != "0" { try set("renderWorkers", text) }
        case "MAX_CLIENTS": if text != "0" { try set("maxConnections", text) }
        case "MAX_REDIRECTS": try set("maxRedirects", text)
        case "MAX_SRC_RESOLUTION":
            try set("maxSourcePixels", String(max(1, Int(try Self.number(text) * 1_000_000))))
        case "MAX_SRC_FILE_SIZE": if text != "0" { try set("maxSourceBytes", text) }
        case "ALLOW_ORIGIN": try set("allowOrigin", text)
        case "USER_AGENT": try set("userAgent", text)
        case "JPEG_PROGRESSIVE": try set("jpegProgressive", Self.flag(text) ? "on" : "off")
        case "WEBP_EFFORT": try set("webpEffort", text)
        case "JXL_EFFORT": try set("jxlEffort", text)
        case "AVIF_SPEED": try set("avifEffort", String(9 - SettingValues.integer(text, in: 0...9)))
        case "ALLOWED_SOURCES":
            meant = ["allowedSources"]
            allowedSources = try ImgproxyAllowedSources(text)
        case "ALLOW_LOOPBACK_SOURCE_ADDRESSES": try open(["127.0.0.0/8", "::1/128"], text)
        case "ALLOW_LINK_LOCAL_SOURCE_ADDRESSES": try open(["169.254.0.0/16", "fe80::/10"], text)
        case "ALLOW_PRIVATE_SOURCE_ADDRESSES":
            try open(["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"], text)
        case "LOG_LEVEL": try set("logLevel", text == "warn" ? "warning" : text)
        case "LOG_FORMAT": try set("logFormat", text == "json" ? "json" : "text")
        default: return false
        }
        return true
    }
}

extension ImgproxyEnvironment {
    private mutating func open(_ networks: [String], _ text: String) throws(InvalidValue) {
        meant = ["allowedNetworks"]
        guard try Self.flag(text) else { return }
        settings.downloads.allowedNetworks += networks.compactMap { AddressNetwork($0) }
    }

    /// Makes only this file of its folder available.
    private mutating func readWatermark(path: String) throws(InvalidValue) {
        guard let resolved = Self.resolved(path), let slash = resolved.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            throw InvalidValue(allowed: "the path of a file")
        }
        let name = String(resolved[resolved.utf8.index(after: slash)...])
        let folder = resolved[..<slash]
        watermark(named: name, at: .folder(path: folder.isEmpty ? "/" : String(folder)))
    }

    private mutating func watermark(named name: String, at place: Origin.Place) {
        meant = ["origins.\(Self.watermarkOrigin)"]
        var origin = Origin(name: Self.watermarkOrigin, place: place)
        origin.onlyFile = ExactText(name)
        settings.dialects.origins = [origin] + settings.dialects.origins.filter { $0.name != origin.name }
        settings.dialects.imgproxy.watermark = ExactText("\(Self.watermarkOrigin):\(name)")
    }

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

    /// Whole seconds, or a duration with its unit.
    private static func seconds(_ text: String) -> String {
        text.utf8.allSatisfy(\.isASCIIDigit) ? text + "s" : text
    }

    private static func number(_ text: String) throws(InvalidValue) -> Double {
        guard text.utf8.count <= 16, let value = Double(text), value >= 0, value <= 1_000_000 else {
            throw InvalidValue(allowed: "a number from 0 to 1000000")
        }
        return value
    }

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

    private static func parts(of text: String, separator: String) -> [String] {
        separator.isEmpty ? [text] : text.split(separator: separator).map(String.init)
    }
}
