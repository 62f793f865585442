import Dialects
import Downloading
import Imaging
import Text
import ThumbnailAPI
import ThumbnailPipeline

/// Reads imagor's environment variables.
///
/// Only some of their names begin with `IMAGOR_`: its loader uses `HTTP_LOADER_`, its processor `VIPS_`, and its server
/// has no prefix, as in `PORT`.
struct ImagorEnvironment: ForeignReader {
    var settings: Settings
    var reading = ForeignEnvironment.Reading()
    var meant: [String] = []
    /// The cache lifetime of responses, and how long they may be served stale while they are revalidated.
    private var lifetime: Int?
    private var staleLifetime: Int?
    private var keepsNothing = false
    /// Maximum side lengths of a source in pixels; imagor's own limits unless variables change them.
    private var mostPixels: (width: Int, height: Int)?
    /// The formats that `Accept` may select, from the variables.
    private var automatic: Set<ImageFormat> = []

    /// Prefixes of variables that belong to imagor, not to the system.
    private static let prefixes = [
        "IMAGOR_", "HTTP_LOADER_", "VIPS_", "FILE_", "S3_", "GCLOUD_", "SERVER_", "UPLOAD_LOADER_", "PROMETHEUS_",
        "SENTRY_",
    ]

    init(_ settings: Settings, _ environment: [String: String]) {
        self.settings = settings
        self.settings.dialects.thumbor.place = DialectPlace("/")
        // Imagor's defaults.
        self.settings.dialects.thumbor.baseURL = "https://"
        self.settings.dialects.thumbor.quality = 75
    }

    static let keys = ["IMAGOR_SECRET"]

    static func isSecret(_ name: String) -> Bool { keys.contains(name) }

    mutating func meaning(of name: String, _ text: String) throws(InvalidValue) -> ForeignVariable.Meaning? {
        if try readTargets(name, text) { return .counts(meant) }
        if try readBounds(name, text) { return .counts(meant) }
        if try readSources(name, text) { return .counts(meant) }
        if try readService(name, text) { return .counts(meant) }
        guard Self.prefixes.contains(where: { name.hasPrefix($0) }) else { return nil }
        return Self.isHarmless(name, text) ? .harmless : .lost
    }

    /// Reads variables for parsing targets.
    private mutating func readTargets(_ name: String, _ text: String) throws(InvalidValue) -> Bool {
        switch name {
        case "IMAGOR_SECRET": try set("thumborKey", text)
        case "IMAGOR_UNSAFE": try set("thumborUnsafe", try Self.flag(text) ? "on" : "off")
        case "IMAGOR_SIGNER_TYPE": try set("thumborSigner", text.lowercased())
        case "IMAGOR_SIGNER_TRUNCATE": try set("thumborSignerTruncate", text)
        case "IMAGOR_AUTO_AVIF", "IMAGOR_AUTO_WEBP":
            meant = ["thumborAutoFormats"]
            if try Self.flag(text) { automatic.insert(name == "IMAGOR_AUTO_AVIF" ? .avif : .webp) }
        case "IMAGOR_AUTO_JPEG": try set("thumborAutoJPEG", try Self.flag(text) ? "on" : "off")
        case "IMAGOR_BASE_PARAMS":
            throw InvalidValue(allowed: "none: targets are not given an operator's options and filters here")
        case "CONFIG":
            throw InvalidValue(
                allowed: "none: imagor's file is not read, and a secret may lie there; set its variables")
        case "SERVER_PATH_PREFIX":
            try set("thumborPath", text.count > 1 && text.hasSuffix("/") ? String(text.dropLast()) : text)
        case "HTTP_LOADER_DEFAULT_SCHEME":
            meant = ["thumborBaseURL"]
            guard ["http", "https"].contains(text) else { throw InvalidValue(allowed: "http or https") }
            // A base URL is more specific.
            if settings.dialects.thumbor.baseURL == "https://" {
                settings.dialects.thumbor.baseURL = SourceBase(text + "://")
            }
        case "HTTP_LOADER_BASE_URL":
            try set("thumborBaseURL", text.hasSuffix("/") ? text : text + "/")
        case "IMAGOR_CACHE_HEADER_TTL": lifetime = try Self.seconds(text)
        case "IMAGOR_CACHE_HEADER_SWR": staleLifetime = try Self.seconds(text)
        case "IMAGOR_CACHE_HEADER_NO_CACHE": keepsNothing = try Self.flag(text)
        default: return false
        }
        return true
    }

    /// Reads variables that restrict imagor's targets, which another dialect could bypass.
    private mutating func readBounds(_ name: String, _ text: String) throws(InvalidValue) -> Bool {
        let isBound: Bool
        switch name {
        case "VIPS_DISABLE_FILTERS":
            let names = try SettingValues.list(text).map { ExactText($0) }
            settings.dialects.thumbor.disabledFilters.formUnion(names)
            isBound = !names.isEmpty
        case "VIPS_DISABLE_BLUR":
            isBound = try Self.flag(text)
            if isBound { settings.dialects.thumbor.disabledFilters.formUnion(["blur", "sharpen"]) }
        case "VIPS_STRIP_COLOR_PROFILE":
            settings.dialects.thumbor.stripsProfile = try Self.flag(text)
            isBound = false
        case "VIPS_MAX_FILTER_OPS":
            guard let most = Int(text), most >= -1 else { throw InvalidValue(allowed: "a whole number from -1") }
            isBound = most > 0
            settings.dialects.thumbor.maximumFilters = isBound ? most : nil
        default: return false
        }
        if isBound { settings.dialects.bounded.insert("thumbor") }
        return true
    }

    /// Reads variables that restrict sources and their sizes.
    private mutating func readSources(_ name: String, _ text: String) throws(InvalidValue) -> Bool {
        switch name {
        case "HTTP_LOADER_ALLOWED_SOURCES": try set("allowedSources", text)
        case "HTTP_LOADER_ALLOWED_SOURCE_REGEXP", "HTTP_LOADER_ALLOWED_SOURCES_REGEXP":
            throw InvalidValue(allowed: "none: regular expressions are not read here; allowedSources takes patterns")
        case "HTTP_LOADER_BLOCK_NETWORKS": settings.downloads.deniedNetworks += try SettingTable.networks(text)
        case "HTTP_LOADER_BLOCK_LOOPBACK_NETWORKS", "HTTP_LOADER_BLOCK_PRIVATE_NETWORKS",
            "HTTP_LOADER_BLOCK_LINK_LOCAL_NETWORKS":
            // They are closed until `allowedNetworks` opens them.
            _ = try Self.flag(text)
            meant = ["allowedNetworks"]
        case "HTTP_LOADER_DISABLE": if try Self.flag(text) { settings.downloads.allowsUnnamedSources = false }
        case "HTTP_LOADER_MAX_ALLOWED_SIZE": if text != "0" { try set("maxSourceBytes", text) }
        case "VIPS_MAX_RESOLUTION": if text != "0" { try set("maxSourcePixels", text) }
        case "VIPS_MAX_WIDTH", "VIPS_MAX_HEIGHT":
            meant = ["maxSourcePixels"]
            let side = try SettingValues.integer(text, in: 0...1_000_000)
            guard side > 0 else { break }
            var sides = mostPixels ?? (9_999, 9_999)
            if name == "VIPS_MAX_WIDTH" { sides.width = side } else { sides.height = side }
            mostPixels = sides
        default: return false
        }
        return true
    }

    /// Reads variables that correspond to settings of the service.
    private mutating func readService(_ name: String, _ text: String) throws(InvalidValue) -> Bool {
        switch name {
        case "PORT": try set("port", text)
        case "SERVER_ADDRESS": try set("bind", text)
        case "PROMETHEUS_BIND": try set("metricsBind", text)
        case "SERVER_CORS": if try Self.flag(text) { try set("allowOrigin", "*") }
        case "SERVER_ACCESS_LOG": try set("accessLog", try Self.flag(text) ? "on" : "off")
        case "IMAGOR_REQUEST_TIMEOUT": try set("requestTimeout", "\(try Self.milliseconds(text))ms")
        case "IMAGOR_LOAD_TIMEOUT": try set("downloadTimeout", "\(try Self.milliseconds(text))ms")
        case "IMAGOR_PROCESS_TIMEOUT": try set("decodeTimeout", "\(try Self.milliseconds(text))ms")
        case "HTTP_LOADER_USER_AGENT": try set("userAgent", text)
        case "VIPS_MAX_ANIMATION_FRAMES":
            guard let frames = Int(text), frames >= -1 else { throw InvalidValue(allowed: "a whole number from -1") }
            if frames > 0 { try set("maxFrames", String(frames)) }
        case "VIPS_AVIF_SPEED":
            let speed = try SettingValues.integer(text, in: 0...9)
            try set("avifEffort", String(9 - speed))
        default: return false
        }
        return true
    }

    /// Returns whether a variable requests behavior that the service always has, or concerns imagor's internals.
    private static func isHarmless(_ name: String, _ text: String) -> Bool {
        switch name {
        case "IMAGOR_DISABLE_ERROR_BODY", "IMAGOR_DISABLE_PARAMS_ENDPOINT", "IMAGOR_MODIFIED_TIME_CHECK",
            "IMAGOR_PROCESS_CONCURRENCY", "IMAGOR_PROCESS_QUEUE_SIZE", "IMAGOR_SAVE_TIMEOUT",
            "SERVER_STRIP_QUERY_STRING", "VIPS_CACHE_MAX_FILES", "VIPS_CACHE_MAX_MEM", "VIPS_CACHE_MAX_SIZE",
            "VIPS_CONCURRENCY", "VIPS_MAX_CACHE_FILES", "VIPS_MAX_CACHE_MEM", "VIPS_MAX_CACHE_SIZE", "VIPS_MOZJPEG",
            "VIPS_STRIP_METADATA", "VIPS_VECTOR":
            true
        case "HTTP_LOADER_ACCEPT": text == "*/*"
        // The metrics listener responds the same on all paths.
        case "PROMETHEUS_PATH": true
        default: (try? flag(text)) == false
        }
    }

    mutating func finish() {
        settings.dialects.thumbor.automaticFormats = [.avif, .webp].filter { automatic.contains($0) }
        settings.dialects.thumbor.maximumAge = keepsNothing ? 0 : lifetime
        // As in imagor: only if it is shorter than the lifetime.
        settings.dialects.thumbor.staleAge = staleLifetime.flatMap { age in
            age > 0 && age < settings.dialects.thumbor.maximumAge ?? .max ? age : nil
        }
        if let mostPixels {
            let limit = settings.pipeline.rules.limits.maximumSourcePixels
            settings.pipeline.rules.limits.maximumSourcePixels = min(limit, mostPixels.width * mostPixels.height)
        }
    }

    /// Reads whole seconds of a duration; a negative one counts as unset.
    private static func seconds(_ text: String) throws(InvalidValue) -> Int {
        text.hasPrefix("-") ? 0 : try milliseconds(text) / 1_000
    }

    /// Reads a duration in Go's syntax: `1h30m`, `500ms`, `1.5s`, `0`.
    private static func milliseconds(_ text: String) throws(InvalidValue) -> Int {
        if text == "0" { return 0 }
        let units: [(String, Double)] = [("ms", 1), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)]
        var (rest, sum) = (Substring(text), 0.0)
        while !rest.isEmpty {
            let digits = rest.prefix { "0123456789.".contains($0) }
            rest = rest.dropFirst(digits.count)
            guard digits.utf8.count <= 12, let number = Double(digits),
                let unit = units.first(where: { rest.hasPrefix($0.0) })
            else { throw InvalidValue(allowed: "a duration such as 30s, 1h30m or 500ms") }
            rest = rest.dropFirst(unit.0.count)
            sum += number * unit.1
        }
        guard !text.isEmpty, sum < 1e15 else { throw InvalidValue(allowed: "a duration such as 30s, 1h30m or 500ms") }
        return Int(sum)
    }
}
