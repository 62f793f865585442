import Crypto
import Imaging
import Text
import ThumbnailAPI

/// What the environment variables of imagor mean here.
///
/// Only some of their names begin with `IMAGOR_`: those of its loader begin with `HTTP_LOADER_`, those of its processor with `VIPS_`, and
/// those of its server have no prefix, such as `PORT`.
struct ImagorEnvironment {
    private var settings: Settings
    private var problems: [String] = []
    private var ignored: [String] = []
    /// What the variables say about the formats that `Accept` chooses.
    private var automatic: Set<ImageFormat> = []

    /// Prefixes of variables that belong to imagor, and not to the system.
    private static let prefixes = [
        "IMAGOR_", "HTTP_LOADER_", "VIPS_", "FILE_", "S3_", "GCLOUD_", "SERVER_", "UPLOAD_LOADER_",
    ]

    /// Stores what the variables mean.
    ///
    /// - Returns: The variables that mean nothing here, and all that is wrong with the others, one line each.
    static func apply(
        _ environment: [String: String], to settings: inout Settings
    ) -> (ignored: [String], problems: [String]) {
        var reader = ImagorEnvironment(settings)
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where !text.isEmpty {
            reader.read(name, text)
        }
        reader.finish()
        settings = reader.settings
        return (reader.ignored, reader.problems)
    }

    private init(_ settings: Settings) {
        self.settings = settings
        self.settings.dialects.thumbor.place = DialectPlace("/")
        // Imagor's defaults.
        self.settings.dialects.thumbor.baseURL = "https://"
        self.settings.dialects.thumbor.quality = 75
    }

    private mutating func read(_ name: String, _ text: String) {
        do throws(InvalidValue) {
            if try readTargets(name, text) { return }
            if try readService(name, text) { return }
            if Self.isMeaningless(name, text) { return }
            if Self.prefixes.contains(where: { name.hasPrefix($0) }) { ignored.append(name) }
        } catch {
            let isHidden = name == "IMAGOR_SECRET" || text.utf8.contains(UInt8(ascii: "@"))
            problems.append(
                "\(name): \(isHidden ? "its value" : "\"\(text)\"") is not allowed; allowed is \(error.allowed)")
        }
    }

    /// Variables that say how targets are read.
    private mutating func readTargets(_ name: String, _ text: String) throws(InvalidValue) -> Bool {
        switch name {
        case "IMAGOR_SECRET": try set("thumborKey", text)
        case "IMAGOR_UNSAFE": settings.dialects.thumbor.servesUnsafe = try Self.flag(text)
        case "IMAGOR_SIGNER_TYPE": try set("thumborSigner", text.lowercased())
        case "IMAGOR_SIGNER_TRUNCATE": try set("thumborSignerTruncate", text)
        case "IMAGOR_AUTO_AVIF": if try Self.flag(text) { automatic.insert(.avif) }
        case "IMAGOR_AUTO_WEBP": if try Self.flag(text) { automatic.insert(.webp) }
        case "IMAGOR_AUTO_JPEG": settings.dialects.thumbor.replacesPNG = try Self.flag(text)
        case "SERVER_PATH_PREFIX":
            try set("thumborPath", text.count > 1 && text.hasSuffix("/") ? String(text.dropLast()) : text)
        case "HTTP_LOADER_DEFAULT_SCHEME":
            guard ["http", "https"].contains(text) else { throw InvalidValue(allowed: "http or https") }
            // A base URL says more.
            if settings.dialects.thumbor.baseURL == "https://" {
                settings.dialects.thumbor.baseURL = ExactText(text + "://")
            }
        case "HTTP_LOADER_BASE_URL":
            settings.dialects.thumbor.baseURL = ExactText(text.hasSuffix("/") ? text : text + "/")
        case "VIPS_DISABLE_FILTERS":
            settings.dialects.thumbor.disabledFilters.formUnion(SettingValues.list(text).map { ExactText($0) })
        case "VIPS_DISABLE_BLUR":
            if try Self.flag(text) { settings.dialects.thumbor.disabledFilters.formUnion(["blur", "sharpen"]) }
        default: return false
        }
        return true
    }

    /// Variables that mean the same as settings of the service.
    private mutating func readService(_ name: String, _ text: String) throws(InvalidValue) -> Bool {
        switch name {
        case "PORT": try set("port", text)
        case "SERVER_ADDRESS": try set("bind", text)
        case "SERVER_CORS": if try Self.flag(text) { try set("allowOrigin", "*") }
        case "SERVER_ACCESS_LOG": try set("accessLog", try Self.flag(text) ? "on" : "off")
        case "IMAGOR_REQUEST_TIMEOUT": try set("requestTimeout", text)
        case "IMAGOR_LOAD_TIMEOUT": try set("downloadTimeout", text)
        case "IMAGOR_PROCESS_TIMEOUT": try set("decodeTimeout", text)
        case "HTTP_LOADER_ALLOWED_SOURCES": try set("allowedSources", text)
        case "HTTP_LOADER_MAX_ALLOWED_SIZE": if text != "0" { try set("maxSourceBytes", text) }
        case "VIPS_MAX_ANIMATION_FRAMES":
            guard let frames = Int(text), frames >= -1 else { throw InvalidValue(allowed: "a whole number from -1") }
            if frames > 0 { try set("maxFrames", String(frames)) }
        case "VIPS_MAX_RESOLUTION": if text != "0" { try set("maxSourcePixels", text) }
        case "VIPS_AVIF_SPEED":
            let speed = try SettingValues.integer(text, in: 0...9)
            try set("avifEffort", String(9 - speed))
        default: return false
        }
        return true
    }

    /// Whether a variable says what holds here in any case, or what concerns imagor's own workings alone.
    private static func isMeaningless(_ name: String, _ text: String) -> Bool {
        switch name {
        case "IMAGOR_DISABLE_ERROR_BODY", "IMAGOR_DISABLE_PARAMS_ENDPOINT", "SERVER_STRIP_QUERY_STRING",
            "VIPS_STRIP_METADATA", "VIPS_STRIP_COLOR_PROFILE", "VIPS_MOZJPEG", "VIPS_CONCURRENCY", "VIPS_VECTOR",
            "VIPS_MAX_CACHE_FILES", "VIPS_MAX_CACHE_SIZE", "VIPS_MAX_CACHE_MEM", "HTTP_LOADER_BLOCK_LOOPBACK_NETWORKS",
            "HTTP_LOADER_BLOCK_PRIVATE_NETWORKS", "HTTP_LOADER_BLOCK_LINK_LOCAL_NETWORKS", "IMAGOR_PROCESS_CONCURRENCY":
            true
        case "HTTP_LOADER_ACCEPT": text == "*/*"
        default: false
        }
    }

    private mutating func finish() {
        settings.dialects.thumbor.automaticFormats = [.avif, .webp].filter { automatic.contains($0) }
    }

    /// Stores the value of a setting.
    private mutating func set(_ name: String, _ text: String) throws(InvalidValue) {
        try SettingTable.named(name)?.apply(&settings, text)
    }

    /// The spellings of Go's flags.
    private static func flag(_ text: String) throws(InvalidValue) -> Bool {
        switch text {
        case "1", "t", "T", "true", "TRUE", "True": return true
        case "0", "f", "F", "false", "FALSE", "False": return false
        default: throw InvalidValue(allowed: "true or false")
        }
    }
}
