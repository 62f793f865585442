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

/// All settings in the order of the contract.
package enum SettingTable {
    /// The setting whose value is an object, read by ``OriginsReader``.
    static let origins = "origins"

    /// The settings whose values are objects, read by ``VocabularyReader``.
    static let vocabulary: Set<ExactText> = ["watermarks", "presets"]

    package static let all: [Setting] =
        listeners + downloads + caches + sharing + storing + freshness + sources + answers + quality + sizes + dialects
        + imgproxy + wsrv + times + sandbox + process + exports + notifying

    private static let listeners: [Setting] = [
        Setting(name: "bind", default: "0.0.0.0", help: "address of the public listener") {
            $0.publicListener.bindAddress = $1
        },
        Setting(name: "port", default: "8080", help: "port of the public listener; 0 picks a free one") {
            (settings, text) throws(InvalidValue) in settings.publicListener.port = try port(text)
        },
        Setting(name: "adminBind", default: "127.0.0.1", help: "address of the operators' listener") {
            $0.operatorListener.bindAddress = $1
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
        Setting(name: "maxActiveDownloads", default: "32", help: "running transfers, whole process") {
            (settings, text) throws(InvalidValue) in
            settings.downloads.maximumActiveDownloads = try SettingValues.integer(text, in: 1...10_000)
        },
        Setting(name: "maxActiveDownloadsPerHost", default: "8", help: "running transfers to one host:port") {
            (settings, text) throws(InvalidValue) in
            settings.downloads.maximumActiveDownloadsPerHost = try SettingValues.integer(text, in: 1...10_000)
        },
        Setting(name: "downloadOrder", default: "fifo", help: "fifo or lifo among queued transfers") {
            (settings, text) throws(InvalidValue) in settings.downloads.order = try SettingValues.choice(text)
        },
        Setting(name: "maxQueuedDownloads", default: "1024", help: "above it requests are answered 503") {
            (settings, text) throws(InvalidValue) in
            settings.downloads.maximumQueuedDownloads = try SettingValues.integer(text, in: 0...1_000_000)
        },
        Setting(name: "maxRedirects", default: "5", help: "redirects followed, each judged like a first URL") {
            (settings, text) throws(InvalidValue) in
            settings.downloads.maximumRedirects = try SettingValues.integer(text, in: 0...20)
        },
        Setting(name: "connectTimeout", default: "3s", help: "name look-up and connection to an origin") {
            (settings, text) throws(InvalidValue) in
            settings.downloads.connectTimeout = try SettingValues.duration(text)
        },
        Setting(name: "firstByteTimeout", default: "5s", help: "silence of an origin before its first byte") {
            (settings, text) throws(InvalidValue) in
            settings.downloads.firstByteTimeout = try SettingValues.duration(text)
        },
        Setting(name: "downloadTimeout", default: "10s", help: "a whole transfer") {
            (settings, text) throws(InvalidValue) in
            settings.downloads.downloadTimeout = try SettingValues.duration(text)
        },
    ]

    private static let caches: [Setting] = [
        Setting(name: "decodedCacheCapacity", default: "100MiB", help: "decoded pixels: a purge starts above it") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.decodedCacheCapacity = try SettingValues.byteSize(text)
        },
        Setting(name: "decodedCachePreferred", default: "60MiB", help: "decoded pixels: a purge stops at it") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.decodedCachePreferred = try SettingValues.byteSize(text)
        },
        Setting(name: "resultCacheCapacity", default: "64MiB", help: "encoded results: a purge starts above it") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.resultCacheCapacity = try SettingValues.byteSize(text)
        },
        Setting(name: "resultCachePreferred", default: "48MiB", help: "encoded results: a purge stops at it") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.resultCachePreferred = try SettingValues.byteSize(text)
        },
        Setting(name: "sourceCacheMemory", default: "20MiB", help: "encoded sources in memory") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.sourceCacheMemory = try SettingValues.byteSize(text)
        },
        Setting(name: "sourceCachePath", defaultText: "none", help: "folder of the disk cache; one process each") {
            (settings, text) throws(InvalidValue) in
            guard text.utf8.contains(where: { $0 != UInt8(ascii: "/") }), !text.utf8.contains(0) else {
                throw InvalidValue(allowed: "the path of a folder, which is made if it is missing")
            }
            settings.disk.path = text
        },
        Setting(name: "sourceCacheDisk", default: "150MiB", help: "encoded sources on disk") {
            (settings, text) throws(InvalidValue) in
            settings.disk.sourceCapacity = try SettingValues.byteSize(text)
        },
        Setting(name: "resultCacheDisk", default: "150MiB", help: "encoded results on disk") {
            (settings, text) throws(InvalidValue) in
            settings.disk.resultCapacity = try SettingValues.byteSize(text)
        },
        Setting(name: "sessionMode", default: "default", help: "ephemeral writes nothing, ever") {
            (settings, text) throws(InvalidValue) in settings.disk.mode = try SettingValues.choice(text)
        },
    ]

    private static let freshness: [Setting] = [
        Setting(name: "staleWhileRevalidate", default: "0s", help: "default stale use during validation") {
            (settings, text) throws(InvalidValue) in
            settings.downloads.staleAllowances.whileRevalidating = try SettingValues.seconds(text)
        },
        Setting(name: "staleIfError", default: "24h", help: "default stale use while the origin fails") {
            (settings, text) throws(InvalidValue) in
            settings.downloads.staleAllowances.ifError = try SettingValues.seconds(text)
        },
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
        Setting(name: "allowedSources", defaultText: "any public", help: "URL patterns with * that sources must match")
        {
            (settings, text) throws(InvalidValue) in
            settings.downloads.allowsUnnamedSources = true
            settings.downloads.allowedSources = try parsed(
                text, "patterns such as https://*.example.com/images/*, separated by commas"
            ) { SourcePattern($0) }
        },
        Setting(
            name: origins, defaultText: "none", help: "named sources, in the file only",
            apply: { (_, _) throws(InvalidValue) in throw InvalidValue(allowed: "an object in the settings file") },
            isSecret: true),
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
        Setting(name: "maxSourcePixels", default: "100000000", help: "pixels of a source") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.rules.limits.maximumSourcePixels = try SettingValues.integer(text, in: 1...10_000_000_000)
        },
        Setting(name: "maxFrames", default: "256", help: "frames with animated=1; later ones are cut off") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.rules.limits.maximumFrames = try SettingValues.integer(text, in: 1...100_000)
        },
        Setting(name: "incompleteImages", default: "refuse", help: "serve: images that lack pixels, for 60 s") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.rules.limits.incompleteImages = try SettingValues.choice(text)
        },
    ]

    private static let answers: [Setting] = [
        Setting(name: "maxOutputPixels", default: "25000000", help: "pixels of a result, all frames together") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.rules.limits.maximumOutputPixels = try SettingValues.integer(text, in: 1...10_000_000_000)
        },
        Setting(name: "maxOutputPixelsSlow", default: "6000000", help: "pixels of a frame in \(slow)") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.rules.limits.maximumOutputPixelsSlow = try SettingValues.integer(
                text, in: 1...10_000_000_000)
        },
        Setting(name: "resample", default: "linear", help: "mix pixels as light; gamma: as their stored numbers") {
            (settings, text) throws(InvalidValue) in settings.pipeline.rules.light = try SettingValues.choice(text)
        },
        Setting(
            name: "gamut", default: "srgb",
            help: "the colours of answers: srgb, p3, or auto: p3 for images that need it"
        ) {
            (settings, text) throws(InvalidValue) in settings.pipeline.rules.gamut = try SettingValues.choice(text)
        },
        Setting(name: "jpegProgressive", default: "auto", help: "auto: if that is smaller; or on, off") {
            (settings, text) throws(InvalidValue) in
            let scans = ["auto": JPEGScanChoice.bySize, "on": .several, "off": .one]
            guard let chosen = scans[text] else { throw InvalidValue(allowed: "auto, on or off") }
            settings.pipeline.rules.efforts[.jpeg] = chosen.rawValue
        },
        Setting(name: "webpEffort", default: "\(ImageFormat.webp.effort)", help: "0…6: slower, smaller answers") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.rules.efforts[.webp] = try SettingValues.integer(text, in: 0...6)
        },
        Setting(name: "avifEffort", default: "\(ImageFormat.avif.effort)", help: "0…9: slower, smaller answers") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.rules.efforts[.avif] = try SettingValues.integer(text, in: 0...9)
        },
        Setting(
            name: "jxlEffort", default: "\(ImageFormat.jxl.effort)",
            help: "1…9: slower, smaller answers; below 3 as 3"
        ) {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.rules.efforts[.jxl] = try SettingValues.integer(text, in: 1...9)
        },
        Setting(name: "autoFormats", default: "webp", help: "what format=auto may choose by Accept, best first") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.rules.automaticFormats = try SettingValues.formats(text, of: ImageFormat.written)
        },
        Setting(name: "uploads", default: "off", help: "on: clients may send images with POST") {
            (settings, text) throws(InvalidValue) in settings.api.takesUploads = try SettingValues.flag(text)
        },
        Setting(name: "maxRenditions", default: "64", help: "renditions of one POST /thumbnails") {
            (settings, text) throws(InvalidValue) in
            settings.api.maximumRenditions = try SettingValues.integer(text, in: 1...1_000)
        },
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
        Setting(name: "onlyPresets", default: "off", help: "on: no parameters but presets, url, dpr and format") {
            (settings, text) throws(InvalidValue) in
            settings.api.vocabulary.allowsOnlyPresets = try SettingValues.flag(text)
        },
        Setting(
            name: "signingKeys", defaultText: "none", help: "hexadecimal keys; with one, unsigned requests get 403",
            apply: { (settings, text) throws(InvalidValue) in settings.api.signingKeys = try SettingValues.keys(text) },
            isSecret: true),
    ]

    private static let times: [Setting] = [
        Setting(name: "requestTimeout", default: "15s", help: "a whole request: its body, queueing and work") {
            (settings, text) throws(InvalidValue) in
            settings.api.requestTimeout = try SettingValues.duration(text)
            settings.pipeline.requestTimeout = settings.api.requestTimeout
        },
        Setting(
            name: "maxQueueDelay", default: "1500ms", help: "a miss that would wait longer for a worker gets 503"
        ) {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.maximumQueueDelay = try SettingValues.duration(text)
        },
        Setting(name: "decodeTimeout", default: "8s", help: "one decode or render") {
            (settings, text) throws(InvalidValue) in
            settings.pipeline.decodeTimeout = try SettingValues.duration(text)
        },
        Setting(name: "drainDelay", default: "0s", help: "after SIGTERM: readiness fails, connections are accepted") {
            (settings, text) throws(InvalidValue) in settings.drainDelay = try SettingValues.duration(text)
        },
        Setting(name: "shutdownTimeout", default: "8s", help: "bound on the rest of the shutdown") {
            (settings, text) throws(InvalidValue) in settings.shutdownTimeout = try SettingValues.duration(text)
        },
    ]

    private static let process: [Setting] = [
        Setting(name: "renderWorkers", defaultText: "number of cores", help: "concurrent decodes and renders") {
            (settings, text) throws(InvalidValue) in
            settings.renderWorkers = try SettingValues.integer(text, in: 1...1_024)
        },
        Setting(name: "memoryBudget", default: "60%", help: "bytes in flight, decodes and caches; or a share") {
            (settings, text) throws(InvalidValue) in settings.memoryBudget = try MemoryShare(text)
        },
        Setting(name: "logFormat", default: "json", help: "json or text") {
            (settings, text) throws(InvalidValue) in settings.logFormat = try SettingValues.choice(text)
        },
        Setting(name: "logLevel", default: "info", help: "debug, info, warning or error") {
            (settings, text) throws(InvalidValue) in settings.logLevel = try SettingValues.choice(text)
        },
        Setting(name: "accessLog", default: "on", help: "one log line a request") {
            (settings, text) throws(InvalidValue) in settings.api.accessLog = try SettingValues.flag(text)
        },
    ]

    /// The setting of this name, as it is spelled in the file.
    static func named(_ name: String) -> Setting? { all.first { $0.name == name } }

    /// The formats that results have a bound of their own in, as words.
    private static let slow = list(ImageFormat.written.filter(\.isSlow).reversed(), separator: " or ")

    private static func list(_ formats: [ImageFormat], separator: String = ",") -> String {
        formats.map(\.rawValue).joined(separator: separator)
    }

    static func networks(_ text: String) throws(InvalidValue) -> [AddressNetwork] {
        try parsed(text, "networks such as 127.0.0.0/8 or fd00::/8, separated by commas") { AddressNetwork($0) }
    }

    private static func port(_ text: String) throws(InvalidValue) -> UInt16 {
        UInt16(try SettingValues.integer(text, in: 0...65_535))
    }

    private static func parsed<Value>(
        _ text: String, _ allowed: String, _ parse: (String) -> Value?
    ) throws(InvalidValue) -> [Value] {
        let members = SettingValues.list(text)
        let values = members.compactMap(parse)
        guard values.count == members.count else { throw InvalidValue(allowed: allowed) }
        return values
    }
}
