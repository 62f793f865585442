import Dialects
import Downloading
import JSON
import Recipes
import Text
import ThumbnailAPI
import ThumbnailPipeline

/// Only some names begin with `IMAGOR_`: imagor's loader uses `HTTP_LOADER_`, its processor `VIPS_`, and its server has
/// no prefix, as in `PORT`.
struct ImagorEnvironment: OtherServiceReader {
    var settings: Settings
    var reading = OtherServiceEnvironment.Reading()
    var replacedSettings: [String] = []
    private var lifetime: Int?
    private var staleLifetime: Int?
    private var keepsNothing = false
    private var maximumWidth: Int?
    private var maximumHeight: Int?
    /// imagor's limit of one side if a variable sets only the other side.
    private static let defaultSide = 9_999
    private var automatic: Set<ImageFormat> = []
    private var bucket: String?
    private var bucketFolder = ""
    private var folder: String?
    private let environment: [String: String]

    private static let bucketOrigin = "imagor-s3"
    private static let folderOrigin = "imagor-files"

    private static let prefixes = [
        "IMAGOR_", "HTTP_LOADER_", "VIPS_", "FILE_", "S3_", "GCLOUD_", "SERVER_", "UPLOAD_LOADER_", "PROMETHEUS_",
        "SENTRY_",
    ]

    init(_ settings: Settings, environment: [String: String]) {
        self.settings = settings
        self.environment = environment
        self.settings.dialects.thumbor.prefix = PathPrefix("/")
        // Start with imagor's defaults.
        self.settings.dialects.thumbor.baseURL = "https://"
        self.settings.dialects.thumbor.quality = 75
    }

    static let dialectName: ExactText = "thumbor"

    static let keys = ["IMAGOR_SECRET"]

    static func isSecret(_ name: String) -> Bool { keys.contains(name) }

    func row(of name: String) -> String? {
        Self.rows.contains { $0.name == name } || Self.prefixes.contains(where: { name.hasPrefix($0) }) ? name : nil
    }

    static let rows = targets + bounds + sources + files + service

    private static let targets: [OtherServiceRow<Self>] = [
        OtherServiceRow("IMAGOR_SECRET", "thumborKey"),
        OtherServiceRow("IMAGOR_UNSAFE", "thumborUnsafe", as: .onOrOff),
        OtherServiceRow("IMAGOR_SIGNER_TYPE", "thumborSigner", as: .init { $0.lowercased() }),
        OtherServiceRow("IMAGOR_SIGNER_TRUNCATE", "thumborSignerTruncate"),
        automatic("IMAGOR_AUTO_AVIF", format: .avif),
        automatic("IMAGOR_AUTO_WEBP", format: .webp),
        OtherServiceRow("IMAGOR_AUTO_JPEG", "thumborAutoJPEG", as: .onOrOff),
        OtherServiceRow("IMAGOR_BASE_PARAMS", rejected: "none: options and filters cannot be added to all targets"),
        OtherServiceRow(
            "CONFIG", rejected: "none: imagor's file is not read, and a secret may lie there; set its variables"),
        OtherServiceRow("SERVER_PATH_PREFIX", "thumborPath", as: .path),
        OtherServiceRow(
            "HTTP_LOADER_DEFAULT_SCHEME",
            SettingParser.text(allowed: "http or https") { ["http", "https"].contains($0) },
            replacing: ["thumborBaseURL"]
        ) { reader, scheme in
            // A base URL takes precedence, because it is more specific.
            if reader.dialect.baseURL == "https://" { reader.dialect.baseURL = SourceBase(scheme + "://") }
        },
        OtherServiceRow("HTTP_LOADER_BASE_URL", "thumborBaseURL", as: .init { $0.hasSuffix("/") ? $0 : $0 + "/" }),
        OtherServiceRow("IMAGOR_CACHE_HEADER_TTL", \.lifetime, as: seconds),
        OtherServiceRow("IMAGOR_CACHE_HEADER_SWR", \.staleLifetime, as: seconds),
        OtherServiceRow("IMAGOR_CACHE_HEADER_NO_CACHE", \.keepsNothing, as: .goFlag),
    ]

    private var dialect: ThumborConfiguration {
        get { settings.dialects.thumbor }
        set { settings.dialects.thumbor = newValue }
    }

    private static func automatic(_ name: String, format: ImageFormat) -> OtherServiceRow<Self> {
        OtherServiceRow(name, SettingParser.goFlag, replacing: ["thumborAutoFormats"]) { reader, isOn in
            if isOn { reader.automatic.insert(format) }
        }
    }

    private static let bounds: [OtherServiceRow<Self>] = [
        OtherServiceRow("VIPS_DISABLE_FILTERS", SettingParser.names) { $0.disable($1) },
        OtherServiceRow("VIPS_DISABLE_BLUR", SettingParser.goFlag) { $0.disable($1 ? ["blur", "sharpen"] : []) },
        OtherServiceRow("VIPS_STRIP_COLOR_PROFILE", \.dialect.stripsProfile, as: .goFlag),
        OtherServiceRow("VIPS_MAX_FILTER_OPS", \.dialect.maximumFilters, as: aboveZero) { $0 != nil },
    ]

    private mutating func disable(_ filters: [ExactText]) {
        dialect.disabledFilters.formUnion(filters)
        if !filters.isEmpty { settings.dialects.bounded.insert(Self.dialectName) }
    }

    private static let aboveZero: SettingParser<Int?> = SettingParser(allowed: "a whole number from -1") { text in
        Int(text).flatMap { $0 >= -1 ? $0 : nil }
    }
    .map { $0 > 0 ? $0 : nil }

    private static let sources: [OtherServiceRow<Self>] =
        ["LOOPBACK", "PRIVATE", "LINK_LOCAL"].map { kind in
            // These networks are closed until `allowedNetworks` opens them.
            OtherServiceRow("HTTP_LOADER_BLOCK_\(kind)_NETWORKS", SettingParser.goFlag, replacing: ["allowedNetworks"])
            { _, _ in }
        }
        + ["SOURCE", "SOURCES"].map { noun in
            OtherServiceRow(
                "HTTP_LOADER_ALLOWED_\(noun)_REGEXP",
                rejected: "none: regular expressions are not supported; allowedSources takes patterns")
        } + [
            OtherServiceRow("HTTP_LOADER_ALLOWED_SOURCES", "allowedSources"),
            OtherServiceRow("HTTP_LOADER_BLOCK_NETWORKS", SettingParser.networks) {
                $0.settings.downloads.deniedNetworks += $1
            },
            OtherServiceRow("HTTP_LOADER_DISABLE", SettingParser.goFlag) {
                if $1 { $0.settings.downloads.allowsUnnamedSources = false }
            },
            OtherServiceRow("HTTP_LOADER_MAX_ALLOWED_SIZE", "maxSourceBytes", as: .unlessZero),
            OtherServiceRow("VIPS_MAX_RESOLUTION", "maxSourcePixels", as: .unlessZero),
            OtherServiceRow("VIPS_MAX_WIDTH", \.maximumWidth, as: side, replacing: ["maxSourcePixels"]),
            OtherServiceRow("VIPS_MAX_HEIGHT", \.maximumHeight, as: side, replacing: ["maxSourcePixels"]),
        ]

    private static let side = SettingParser.integer(in: 0...1_000_000).map { $0 > 0 ? $0 : nil }

    private static let files: [OtherServiceRow<Self>] =
        [
            OtherServiceRow(
                "S3_LOADER_BUCKET", \.bucket, as: .init { $0 },
                replacing: ["origins.\(bucketOrigin)", "thumborBaseURL"]),
            OtherServiceRow(
                "S3_LOADER_BASE_DIR", \.bucketFolder, as: .init { $0 }, replacing: ["origins.\(bucketOrigin)"]),
            OtherServiceRow("S3_FORCE_PATH_STYLE", SettingParser.goFlag, replacing: ["origins.\(bucketOrigin)"]) {
                _, _ in
            },
            OtherServiceRow(
                "S3_LOADER_PATH_PREFIX",
                SettingParser.text(allowed: "none: S3_LOADER_BASE_DIR names the bucket's folder") {
                    ["", "/"].contains($0)
                }
            ) { _, _ in },
            OtherServiceRow("S3_STORAGE_BUCKET", rejected: "none: only S3_LOADER_BUCKET can have sources"),
            OtherServiceRow("S3_RESULT_STORAGE_BUCKET", rejected: "none: resultStore keeps results in a bucket"),
            OtherServiceRow(
                "FILE_LOADER_BASE_DIR", \.folder, as: .init(allowed: "a folder") { resolved($0) },
                replacing: ["origins.\(folderOrigin)", "thumborBaseURL"]),
        ]
        + ["S3_ENDPOINT", "S3_LOADER_ENDPOINT"].map {
            OtherServiceRow($0, SettingParser<String> { $0 }, replacing: ["origins.\(bucketOrigin)"]) { _, _ in }
        }

    private static let service: [OtherServiceRow<Self>] = [
        OtherServiceRow("PORT", "port"),
        OtherServiceRow("SERVER_ADDRESS", "bind"),
        OtherServiceRow("PROMETHEUS_BIND", "metricsBind"),
        OtherServiceRow("SERVER_CORS", "allowOrigin", as: .flag(on: "*")),
        OtherServiceRow("SERVER_ACCESS_LOG", "accessLog", as: .onOrOff),
        OtherServiceRow("IMAGOR_REQUEST_TIMEOUT", "requestTimeout", as: timeout),
        OtherServiceRow("IMAGOR_LOAD_TIMEOUT", "downloadTimeout", as: timeout),
        OtherServiceRow("IMAGOR_PROCESS_TIMEOUT", "decodeTimeout", as: timeout),
        OtherServiceRow("HTTP_LOADER_USER_AGENT", "userAgent"),
        OtherServiceRow("HTTP_LOADER_PROXY_URLS", "outboundProxy"),
        OtherServiceRow("VIPS_MAX_ANIMATION_FRAMES", "maxFrames", as: aboveZero.map { $0.map { String($0) } }),
        OtherServiceRow("VIPS_AVIF_SPEED", "avifEffort", as: .avifSpeed),
    ]

    private static let timeout = milliseconds.map { Optional("\($0)ms") }

    func isHarmless(_ row: String, text: String) -> Bool {
        switch row {
        case "IMAGOR_DISABLE_ERROR_BODY", "IMAGOR_DISABLE_PARAMS_ENDPOINT", "IMAGOR_MODIFIED_TIME_CHECK",
            "IMAGOR_PROCESS_CONCURRENCY", "IMAGOR_PROCESS_QUEUE_SIZE", "IMAGOR_SAVE_TIMEOUT",
            "SERVER_STRIP_QUERY_STRING", "VIPS_CACHE_MAX_FILES", "VIPS_CACHE_MAX_MEM", "VIPS_CACHE_MAX_SIZE",
            "VIPS_CONCURRENCY", "VIPS_MAX_CACHE_FILES", "VIPS_MAX_CACHE_MEM", "VIPS_MAX_CACHE_SIZE", "VIPS_MOZJPEG",
            "VIPS_STRIP_METADATA", "VIPS_VECTOR":
            true
        case "HTTP_LOADER_ACCEPT": text == "*/*"
        // The metrics listener serves all paths.
        case "PROMETHEUS_PATH": true
        default: (try? SettingParser.goFlag.parse(text)) == false
        }
    }

    mutating func finish() {
        // imagor rejects requests without a secret.
        if dialect.key == nil, dialect.servesUnsafe == nil { dialect.servesUnsafe = false }
        settings.dialects.thumbor.automaticFormats = [.avif, .webp].filter { automatic.contains($0) }
        settings.dialects.thumbor.maximumAge = keepsNothing ? 0 : lifetime
        // As in imagor, it applies only if it is shorter than the lifetime.
        settings.dialects.thumbor.staleAge = staleLifetime.flatMap { age in
            age > 0 && age < settings.dialects.thumbor.maximumAge ?? .max ? age : nil
        }
        addFiles()
        if maximumWidth != nil || maximumHeight != nil {
            let limit = settings.pipeline.rules.limits.maximumSourcePixels
            let maximum = (maximumWidth ?? Self.defaultSide) * (maximumHeight ?? Self.defaultSide)
            settings.pipeline.rules.limits.maximumSourcePixels = min(limit, maximum)
        }
    }

    /// Adds the bucket or folder as the base of images without a scheme.
    private mutating func addFiles() {
        if let bucket {
            guard folder == nil else {
                reading.problems.append("FILE_LOADER_BASE_DIR: none with S3_LOADER_BUCKET; add a named origin")
                return
            }
            let parsed = OriginsReader.read(
                .object([(Self.bucketOrigin, bucketMembers(bucket))]), environment: environment)
            reading.problems += parsed.problems.map { "S3_LOADER_BUCKET: \($0.line)" }
            settings.dialects.origins += parsed.origins.all
            settings.dialects.thumbor.baseURL = SourceBase("\(Self.bucketOrigin):")
        } else if let folder {
            settings.dialects.origins.append(Origin(name: Self.folderOrigin, location: .folder(path: folder)))
            settings.dialects.thumbor.baseURL = SourceBase("\(Self.folderOrigin):")
        }
    }

    private static func withoutSlash(_ url: String) -> String { url.hasSuffix("/") ? String(url.dropLast()) : url }

    private func bucketMembers(_ bucket: String) -> JSONValue {
        // The loader's variables take precedence over the general ones.
        let prefix = environment["AWS_LOADER_ACCESS_KEY_ID"] == nil ? "AWS_" : "AWS_LOADER_"
        let region = environment["AWS_LOADER_REGION"] ?? environment["AWS_REGION"] ?? "us-east-1"
        var base = "https://\(bucket).s3.\(region).amazonaws.com"
        if let endpoint = environment["S3_LOADER_ENDPOINT"] ?? environment["S3_ENDPOINT"], !endpoint.isEmpty {
            base = Self.withoutSlash(endpoint.contains("://") ? endpoint : "https://" + endpoint) + "/" + bucket
        }
        let folder = bucketFolder.split(separator: "/").joined(separator: "/")
        var keys: [(String, JSONValue)] = [("region", .string(region))]
        if environment["AWS_WEB_IDENTITY_TOKEN_FILE"] != nil, environment["\(prefix)ACCESS_KEY_ID"] == nil {
            keys.append(("from", .string("web-identity")))
        } else if environment["\(prefix)ACCESS_KEY_ID"] == nil,
            environment.keys.contains(where: { $0.hasPrefix("AWS_CONTAINER_CREDENTIALS_") })
        {
            keys.append(("from", .string("container")))
        } else {
            for (member, variable) in [
                ("accessKey", "ACCESS_KEY_ID"), ("secretKey", "SECRET_ACCESS_KEY"), ("sessionToken", "SESSION_TOKEN"),
            ] where member != "sessionToken" || environment[prefix + variable] != nil {
                keys.append((member, .object([("env", .string(prefix + variable))])))
            }
        }
        return .object([
            ("url", .string(folder.isEmpty ? base : "\(base)/\(folder)")),
            ("credentials", .object([("s3", .object(keys))])),
        ])
    }

    /// A duration in whole seconds; a negative one counts as unset.
    private static let seconds = SettingParser<Int> { (text) throws(InvalidValue) in
        text.hasPrefix("-") ? 0 : try milliseconds.parse(text) / 1_000
    }

    private static let milliseconds = SettingParser(allowed: "a duration such as 30s, 1h30m or 500ms") { text -> Int? in
        if text == "0" { return 0 }
        let units: [(String, Double)] = [("ms", 1), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)]
        var rest = Substring(text)
        var sum = 0.0
        while !rest.isEmpty {
            let digits = rest.prefix { "0123456789.".contains($0) }
            rest = rest.dropFirst(digits.count)
            guard digits.utf8.count <= 12, let number = Double(digits),
                let unit = units.first(where: { rest.hasPrefix($0.0) })
            else { return nil }
            rest = rest.dropFirst(unit.0.count)
            sum += number * unit.1
        }
        return text.isEmpty || sum >= 1e15 ? nil : Int(sum)
    }
}
