import Coordination
import Dialects
import Downloading
import HTTPServing
import HTTPTypes
import Imaging
import Telemetry
import Text
import ThumbnailAPI
import ThumbnailPipeline

package enum SettingTable {
    /// The setting whose value is an object, read by ``OriginsReader``.
    static let origins = "origins"

    /// The settings whose values are objects, read by ``VocabularyReader``.
    static let vocabulary: Set<ExactText> = ["watermarks", "presets"]

    /// All settings, in the order of the documentation.
    package static let all: [Setting] = [
        listeners, downloads, caches, SharedCacheSettings.table, ResultStoreSettings.table, freshness, sources, answers,
        quality, sizes, DialectSettings.table, times, SandboxSettings.table, process, ExportSettings.table,
        NotifyingSettings.table,
    ].flatMap(\.self)

    private static let listeners: [Setting] = [
        Setting(name: "bind", default: "0.0.0.0", help: "address of the public listener") {
            (settings, text) throws(InvalidValue) in settings.publicListener.bindAddress = try address(text)
        },
        Setting(name: "port", default: "8080", help: "port of the public listener; 0 picks a free one") {
            (settings, text) throws(InvalidValue) in settings.publicListener.port = try port(text)
        },
        Setting(name: "adminBind", default: "127.0.0.1", help: "address of the operators' listener") {
            (settings, text) throws(InvalidValue) in settings.operatorListener.bindAddress = try address(text)
        },
        Setting(name: "adminPort", default: "9091", help: "port of the operators' listener; 0 picks a free one") {
            (settings, text) throws(InvalidValue) in settings.operatorListener.port = try port(text)
        },
        Setting(
            name: "metricsBind", defaultText: "none",
            help: "ADDRESS:PORT of a listener with nothing but metrics, such as 0.0.0.0:9090"
        ) {
            (settings, text) throws(InvalidValue) in settings.metricsListener = try SettingValues.listener(text)
        },
        Setting(
            name: "adminHosts", defaultText: "none",
            help: "names of the operators' listener besides addresses and localhost; * is any"
        ) {
            (settings, text) throws(InvalidValue) in
            settings.api.operatorSites = OperatorSites(
                names: try parsed(text, "* or host names without ports, separated by commas") {
                    OperatorSites.isName($0) ? $0 : nil
                })
        },
        Setting(name: "keepAliveTimeout", default: "60s", help: "idle connections are closed after this") {
            (settings, text) throws(InvalidValue) in
            settings.publicListener.keepAliveTimeout = try SettingValues.duration(text)
            settings.operatorListener.keepAliveTimeout = settings.publicListener.keepAliveTimeout
        },
        Setting(name: "headerTimeout", default: "5s", help: "from the first byte of a request header to its end") {
            (settings, text) throws(InvalidValue) in
            settings.publicListener.headerTimeout = try SettingValues.duration(text)
            settings.operatorListener.headerTimeout = settings.publicListener.headerTimeout
        },
        Setting(name: "maxConnections", default: "4096", help: "above it idle connections are closed for new ones") {
            (settings, text) throws(InvalidValue) in
            settings.publicListener.maximumConnections = try SettingValues.integer(text, in: 1...1_000_000)
            settings.choosesMaximumConnections = true
        },
        Setting(
            name: "maxConnectionsPerAddress", defaultText: "none", help: "the same for the connections of one address"
        ) {
            (settings, text) throws(InvalidValue) in
            settings.publicListener.maximumConnectionsPerAddress = try SettingValues.integer(text, in: 1...1_000_000)
            settings.api.maximumRequestsPerClient = settings.publicListener.maximumConnectionsPerAddress
        },
        Setting(
            name: "trustedProxies", defaultText: "none",
            help: "networks of proxies whose X-Forwarded-For and traceparent count"
        ) {
            (settings, text) throws(InvalidValue) in
            let proxies = TrustedProxies(try networks(text))
            settings.api.trustedProxies = proxies
            settings.publicListener.isTrustedProxy = proxies.contains
        },
    ]

    private static let downloads: [Setting] = [
        .integer(
            "maxActiveDownloads", \.downloads.maximumActiveDownloads, in: 1...10_000, default: "32",
            help: "running transfers, whole process"),
        .integer(
            "maxActiveDownloadsPerHost", \.downloads.maximumActiveDownloadsPerHost, in: 1...10_000, default: "8",
            help: "running transfers to one host:port"),
        .choice("downloadOrder", \.downloads.order, default: "fifo", help: "fifo or lifo among queued transfers"),
        .integer(
            "maxQueuedDownloads", \.downloads.maximumQueuedDownloads, in: 0...1_000_000, default: "1024",
            help: "above it requests are answered 503"),
        .integer(
            "maxRedirects", \.downloads.maximumRedirects, in: 0...20, default: "5",
            help: "redirects followed, each judged like a first URL"),
        .duration(
            "connectTimeout", \.downloads.connectTimeout, default: "3s",
            help: "name look-up and connection to an origin"),
        .duration(
            "firstByteTimeout", \.downloads.firstByteTimeout, default: "5s",
            help: "silence of an origin before its first byte"),
        .duration("downloadTimeout", \.downloads.downloadTimeout, default: "10s", help: "a whole transfer"),
        Setting(
            name: "userAgent", defaultText: "Alula/VERSION", help: "User-Agent for origins; some want a contact in it"
        ) {
            (settings, text) throws(InvalidValue) in
            guard (1...256).contains(text.utf8.count), text.hasOnlyBytes({ $0 >= 0x20 && $0 < 0x7f }), !text.isBlank
            else { throw InvalidValue(allowed: "1 to 256 visible characters of ASCII and spaces") }
            settings.downloads.userAgent = text
        },
    ]

    private static let caches: [Setting] = [
        .byteSize(
            "decodedCacheCapacity", \.pipeline.decodedCacheCapacity, default: "100MiB",
            help: "decoded pixels: a purge starts above it"),
        .byteSize(
            "decodedCachePreferred", \.pipeline.decodedCachePreferred, default: "60MiB",
            help: "decoded pixels: a purge stops at it"),
        .byteSize(
            "resultCacheCapacity", \.pipeline.resultCacheCapacity, default: "64MiB",
            help: "encoded results: a purge starts above it"),
        .byteSize(
            "resultCachePreferred", \.pipeline.resultCachePreferred, default: "48MiB",
            help: "encoded results: a purge stops at it"),
        .byteSize(
            "sourceCacheMemory", \.pipeline.sourceCacheMemory, default: "20MiB", help: "encoded sources in memory"),
        Setting(name: "sourceCachePath", defaultText: "none", help: "folder of the disk cache; one process each") {
            (settings, text) throws(InvalidValue) in
            guard text.utf8.contains(where: { $0 != UInt8(ascii: "/") }), !text.utf8.contains(0) else {
                throw InvalidValue(allowed: "the path of a folder, which is made if it is missing")
            }
            settings.disk.path = text
        },
        .byteSize("sourceCacheDisk", \.disk.sourceCapacity, default: "150MiB", help: "encoded sources on disk"),
        .byteSize("resultCacheDisk", \.disk.resultCapacity, default: "150MiB", help: "encoded results on disk"),
        .choice("sessionMode", \.disk.mode, default: "default", help: "ephemeral writes nothing, ever"),
    ]

    private static let freshness: [Setting] = [
        .seconds(
            "staleWhileRevalidate", \.downloads.staleAllowances.whileRevalidating, default: "0s",
            help: "default stale use during validation"),
        .seconds(
            "staleIfError", \.downloads.staleAllowances.ifError, default: "24h",
            help: "default stale use while the origin fails"),
        Setting(name: "clientCacheControl", default: "ignore", help: "honour lets clients' directives count") {
            (settings, text) throws(InvalidValue) in
            let policy: ClientCacheControl = try SettingValues.choice(text)
            settings.api.honoursClientCacheControl = policy == .honour
        },
        Setting(name: "clientMaxAgeMinimum", defaultText: "none", help: "least max-age that clients get") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.clientMaxAge.minimum = try SettingValues.seconds(text)
        },
        Setting(name: "clientMaxAgeMaximum", defaultText: "none", help: "greatest max-age that clients get") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.clientMaxAge.maximum = try SettingValues.seconds(text)
        },
        Setting(name: "clientMaxAgeFixed", defaultText: "none", help: "max-age of all answers that may be shared") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.clientMaxAge.fixed = try SettingValues.seconds(text)
        },
    ]

    private static let sources: [Setting] = [
        Setting(name: "allowedNetworks", defaultText: "none", help: "CIDRs that are not public but may hold sources") {
            (settings, text) throws(InvalidValue) in
            settings.downloads.allowedNetworks = try networks(text)
        },
        Setting(
            name: "allowedSources", defaultText: "any public", help: "URL patterns with * that sources must match",
            secrecy: .hidden
        ) {
            (settings, text) throws(InvalidValue) in
            settings.downloads.allowsUnnamedSources = true
            settings.downloads.allowedSources = try parsed(
                text, "patterns such as https://*.example.com/images/*, separated by commas"
            ) { SourcePattern($0) }
        },
        Setting(
            name: origins, defaultText: "none", help: "named sources, in the file only", secrecy: .hidden
        ) {
            (_, _) throws(InvalidValue) in throw InvalidValue(allowed: "an object in the settings file")
        },
        Setting(name: "allowedPorts", default: "80,443", help: "ports of public sources") {
            (settings, text) throws(InvalidValue) in
            settings.downloads.allowedPorts = Set(
                try parsed(text, "ports from 1 to 65535, separated by commas") {
                    UInt16($0).flatMap { $0 > 0 ? Int($0) : nil }
                })
        },
        Setting(
            name: "sourceFormats",
            defaultText: "\(list(ImageFormat.trusted)); \(list(ImageFormat.distrusted)) in a sandbox",
            help: "formats to decode"
        ) {
            (settings, text) throws(InvalidValue) in
            settings.sandbox.sourceFormats = Set(try SettingValues.formats(text, of: ImageFormat.allCases))
        },
        Setting(name: "maxSourceBytes", default: "64MiB", help: "size of a source file") {
            (settings, text) throws(InvalidValue) in
            settings.downloads.maximumBytes = try SettingValues.byteSize(text)
            settings.api.maximumUploadBytes = settings.downloads.maximumBytes
        },
        .integer(
            "maxSourcePixels", \.pipeline.rules.limits.maximumSourcePixels, in: 1...10_000_000_000,
            default: "100000000", help: "pixels of a source"),
        .integer(
            "maxFrames", \.pipeline.rules.limits.maximumFrames, in: 1...100_000, default: "256",
            help: "frames with animated=1; later ones are cut off"),
        .choice(
            "incompleteImages", \.pipeline.rules.limits.incompleteImages, default: "refuse",
            help: "serve: images that lack pixels, for 60 s"),
    ]

    private static let answers: [Setting] = [
        .integer(
            "maxOutputPixels", \.pipeline.rules.limits.maximumOutputPixels, in: 1...10_000_000_000, default: "25000000",
            help: "pixels of a result, all frames together"),
        .integer(
            "maxOutputPixelsSlow", \.pipeline.rules.limits.maximumOutputPixelsSlow, in: 1...10_000_000_000,
            default: "6000000", help: "pixels of a frame in \(slow)"),
        .choice(
            "resample", \.pipeline.rules.light, default: "linear",
            help: "mix pixels as light; gamma: as their stored numbers"),
        .choice(
            "gamut", \.pipeline.rules.gamut, default: "srgb",
            help: "colors of answers: srgb or p3; auto: p3 for images that need it"),
        Setting(name: "jpegProgressive", default: "auto", help: "auto: if that is smaller; or on, off") {
            (settings, text) throws(InvalidValue) in
            let scans = ["auto": JPEGScanChoice.bySize, "on": .several, "off": .one]
            guard let chosen = scans[text] else { throw InvalidValue(allowed: "auto, on or off") }
            settings.pipeline.rules.efforts[.jpeg] = chosen.rawValue
        },
        .integer(
            "webpEffort", \.pipeline.rules.efforts[.webp], in: 0...6, default: "\(ImageFormat.webp.effort)",
            help: "0…6: slower, smaller answers"),
        .integer(
            "avifEffort", \.pipeline.rules.efforts[.avif], in: 0...9, default: "\(ImageFormat.avif.effort)",
            help: "0…9: slower, smaller answers"),
        .integer(
            "jxlEffort", \.pipeline.rules.efforts[.jxl], in: 1...9, default: "\(ImageFormat.jxl.effort)",
            help: "1…9: slower, smaller answers; below 3 as 3"),
        Setting(name: "autoFormats", default: "webp", help: "what format=auto may choose by Accept") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.rules.automaticFormats = try SettingValues.formats(text, of: ImageFormat.written)
        },
        .flag("uploads", \.api.takesUploads, default: "off", help: "on: clients may send images with POST"),
        .integer(
            "maxRenditions", \.api.maximumRenditions, in: 1...1_000, default: "64",
            help: "renditions of one POST /thumbnails"),
        Setting(name: "cdnLoop", default: "alula", help: "name in CDN-Loop; requests that carry it are refused") {
            (settings, text) throws(InvalidValue) in
            let isName = text.utf8.allSatisfy { HTTPSyntax.isToken($0) || $0 == UInt8(ascii: ":") }
            guard (1...253).contains(text.utf8.count), isName else {
                throw InvalidValue(allowed: "a name such as alula or images.example.com")
            }
            settings.loopName = text
        },
        Setting(name: "allowOrigin", defaultText: "none", help: "* or the origin whose pages may read answers (CORS)") {
            (settings, text) throws(InvalidValue) in
            settings.api.allowOrigin = try SettingValues.originOfPages(text)
        },
        Setting(name: "watermarks", defaultText: "none", help: "named watermarks, in the file only") {
            (_, _) throws(InvalidValue) in throw InvalidValue(allowed: "an object in the settings file")
        },
        Setting(name: "presets", defaultText: "none", help: "named sets of parameters, in the file only") {
            (_, _) throws(InvalidValue) in throw InvalidValue(allowed: "an object in the settings file")
        },
        .flag(
            "onlyPresets", \.api.vocabulary.allowsOnlyPresets, default: "off",
            help: "on: no parameters but presets, url, dpr, format, tag, expires and sig"),
        Setting(
            name: "signingKeys", defaultText: "none", help: "hexadecimal keys; with one, unsigned requests get 403",
            secrecy: .secret
        ) {
            (settings, text) throws(InvalidValue) in settings.api.signingKeys = try SettingValues.keys(text)
        },
    ]

    private static let times: [Setting] = [
        Setting(name: "requestTimeout", default: "15s", help: "a whole request: its body, queueing and work") {
            (settings, text) throws(InvalidValue) in
            settings.api.requestTimeout = try SettingValues.duration(text)
            settings.pipeline.requestTimeout = settings.api.requestTimeout
        },
        .duration(
            "maxQueueDelay", \.pipeline.maximumQueueDelay, default: "1500ms",
            help: "a miss that would wait longer for a worker gets 503"),
        .duration("decodeTimeout", \.pipeline.decodeTimeout, default: "8s", help: "one decode or render"),
        .duration(
            "drainDelay", \.drainDelay, default: "0s", help: "after SIGTERM: readiness fails, connections are accepted"),
        .duration("shutdownTimeout", \.shutdownTimeout, default: "8s", help: "bound on the rest of the shutdown"),
    ]

    private static let process: [Setting] = [
        Setting(name: "renderWorkers", defaultText: "number of cores", help: "concurrent decodes and renders") {
            (settings, text) throws(InvalidValue) in
            settings.renderWorkers = try SettingValues.integer(text, in: 1...1_024)
        },
        Setting(name: "memoryBudget", default: "60%", help: "bytes in flight, decodes and caches; or a share") {
            (settings, text) throws(InvalidValue) in settings.memoryBudget = try MemoryShare(text)
        },
        .choice("logFormat", \.logFormat, default: "json", help: "json or text"),
        .choice("logLevel", \.logLevel, default: "info", help: "debug, info, warning or error"),
        .flag("accessLog", \.api.accessLog, default: "on", help: "one log line a request"),
    ]

    static func named(_ name: String) -> Setting? { all.first { $0.name == name } }

    /// The formats with a separate pixel limit, as text.
    private static let slow = list(ImageFormat.written.filter(\.isSlow).reversed(), separator: " or ")

    private static func list(_ formats: [ImageFormat], separator: String = ",") -> String {
        formats.map(\.rawValue).joined(separator: separator)
    }

    static func networks(_ text: String) throws(InvalidValue) -> [AddressNetwork] {
        try parsed(text, "networks such as 127.0.0.0/8 or fd00::/8, separated by commas") { AddressNetwork($0) }
    }

    private static func address(_ text: String) throws(InvalidValue) -> String {
        guard !text.contains("/"), AddressNetwork(text) != nil else {
            throw InvalidValue(allowed: "an IPv4 or IPv6 address in figures, such as 127.0.0.1")
        }
        return text
    }

    private static func port(_ text: String) throws(InvalidValue) -> UInt16 {
        UInt16(try SettingValues.integer(text, in: 0...65_535))
    }

    private static func parsed<Value>(
        _ text: String, _ allowed: String, _ parse: (String) -> Value?
    ) throws(InvalidValue) -> [Value] {
        let members = try SettingValues.list(text)
        let values = members.compactMap(parse)
        guard values.count == members.count else { throw InvalidValue(allowed: allowed) }
        return values
    }
}
