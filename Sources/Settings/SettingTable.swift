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
    static let origins = "origins"

    static let vocabulary: Set<ExactText> = ["watermarks", "presets"]

    /// All settings, in the order of the documentation.
    package static let all: [Setting] = [
        listeners, downloads, caches, SharedCacheSettings.table, ResultStoreSettings.table, freshness, sources, answers,
        quality, sizes, DialectSettings.table, times, SandboxSettings.table, process, ExportSettings.table,
        NotifyingSettings.table,
    ].flatMap(\.self)

    private static let listeners: [Setting] = [
        Setting(
            "bind", \.publicListener.bindAddress, address, default: "0.0.0.0", help: "address of the public listener"),
        Setting(
            "port", \.publicListener.port, port, default: "8080",
            help: "port of the public listener; 0 picks a free one"),
        Setting(
            "adminBind", \.operatorListener.bindAddress, address, default: "127.0.0.1",
            help: "address of the operators' listener"),
        Setting(
            "adminPort", \.operatorListener.port, port, default: "9091",
            help: "port of the operators' listener; 0 picks a free one"),
        Setting(
            "metricsBind", \.metricsListener, .init(SettingValues.listener),
            help: "ADDRESS:PORT of a listener with nothing but metrics, such as 0.0.0.0:9090"),
        Setting(
            "adminHosts", \.api.operatorSites,
            hostNames.map { OperatorSites(names: $0) },
            help: "names of the operators' listener besides addresses and localhost; * is any"),
        Setting(
            "keepAliveTimeout", \.publicListener.keepAliveTimeout, also: [\.operatorListener.keepAliveTimeout],
            .duration,
            default: "60s", help: "idle connections are closed after this"),
        Setting(
            "headerTimeout", \.publicListener.headerTimeout, also: [\.operatorListener.headerTimeout], .duration,
            default: "5s", help: "from the first byte of a request header to its end"),
        Setting(
            "maxConnections", \.publicListener.maximumConnections, .integer(in: 1...1_000_000), default: "4096",
            help: "above it idle connections are closed for new ones"),
        Setting(
            "maxConnectionsPerAddress", \.publicListener.maximumConnectionsPerAddress,
            also: [\.api.maximumRequestsPerClient], .integer(in: 1...1_000_000),
            help: "the same for the connections of one address"),
        Setting(
            "trustedProxies", \.api.trustedProxies,
            SettingParser.networks.map { TrustedProxies($0) },
            help: "networks of proxies whose X-Forwarded-For and traceparent count"),
    ]

    private static let downloads: [Setting] = [
        Setting(
            "maxActiveDownloads", \.downloads.maximumActiveDownloads, .integer(in: 1...10_000), default: "32",
            help: "running transfers, whole process"),
        Setting(
            "maxActiveDownloadsPerHost", \.downloads.maximumActiveDownloadsPerHost, .integer(in: 1...10_000),
            default: "8", help: "running transfers to one host:port"),
        Setting(
            "downloadOrder", \.downloads.order, .choice, default: "fifo", help: "fifo or lifo among queued transfers"),
        Setting(
            "maxQueuedDownloads", \.downloads.maximumQueuedDownloads, .integer(in: 0...1_000_000), default: "1024",
            help: "above it requests are answered 503"),
        Setting(
            "maxRedirects", \.downloads.maximumRedirects, .integer(in: 0...20), default: "5",
            help: "redirects followed, each judged like a first URL"),
        Setting(
            "connectTimeout", \.downloads.connectTimeout, .duration, default: "3s",
            help: "name look-up and connection to an origin"),
        Setting(
            "firstByteTimeout", \.downloads.firstByteTimeout, .duration, default: "5s",
            help: "silence of an origin before its first byte"),
        Setting("downloadTimeout", \.downloads.downloadTimeout, .duration, default: "10s", help: "a whole transfer"),
        Setting(
            "userAgent", \.downloads.userAgent,
            .text(allowed: "1 to 256 visible characters of ASCII and spaces") { text in
                (1...256).contains(text.utf8.count) && text.hasOnlyBytes({ $0 >= 0x20 && $0 < 0x7f }) && !text.isBlank
            }, none: "Alula/VERSION", help: "User-Agent for origins; some want a contact in it"),
    ]

    private static let caches: [Setting] = [
        Setting(
            "decodedCacheCapacity", \.pipeline.decodedCacheCapacity, .byteSize, default: "100MiB",
            help: "decoded pixels: a purge starts above it"),
        Setting(
            "decodedCachePreferred", \.pipeline.decodedCachePreferred, .byteSize, default: "60MiB",
            help: "decoded pixels: a purge stops at it"),
        Setting(
            "resultCacheCapacity", \.pipeline.resultCacheCapacity, .byteSize, default: "64MiB",
            help: "encoded results: a purge starts above it"),
        Setting(
            "resultCachePreferred", \.pipeline.resultCachePreferred, .byteSize, default: "48MiB",
            help: "encoded results: a purge stops at it"),
        Setting(
            "sourceCacheMemory", \.pipeline.sourceCacheMemory, .byteSize, default: "20MiB",
            help: "encoded sources in memory"),
        Setting(
            "sourceCachePath", \.disk.path,
            .text(allowed: "the path of a folder, which is made if it is missing") { text in
                text.utf8.contains { $0 != UInt8(ascii: "/") } && !text.utf8.contains(0)
            }, help: "folder of the disk cache; one process each"),
        Setting(
            "sourceCacheDisk", \.disk.sourceCapacity, .byteSize, default: "150MiB", help: "encoded sources on disk"),
        Setting(
            "resultCacheDisk", \.disk.resultCapacity, .byteSize, default: "150MiB", help: "encoded results on disk"),
        Setting("sessionMode", \.disk.mode, .choice, default: "default", help: "ephemeral writes nothing, ever"),
    ]

    private static let freshness: [Setting] = [
        Setting(
            "staleWhileRevalidate", \.downloads.staleAllowances.whileRevalidating, .seconds, default: "0s",
            help: "default stale use during validation"),
        Setting(
            "staleIfError", \.downloads.staleAllowances.ifError, .seconds, default: "24h",
            help: "default stale use while the origin fails"),
        Setting(
            "clientCacheControl", \.api.honorsClientCacheControl,
            .named(["ignore": false, "honour": true], allowed: "ignore or honour"), default: "ignore",
            help: "honour lets clients' directives count"),
        Setting(
            "clientMaxAgeMinimum", \.pipeline.clientMaxAge.minimum, .seconds, help: "least max-age that clients get"),
        Setting(
            "clientMaxAgeMaximum", \.pipeline.clientMaxAge.maximum, .seconds, help: "greatest max-age that clients get"),
        Setting(
            "clientMaxAgeFixed", \.pipeline.clientMaxAge.fixed, .seconds,
            help: "max-age of all answers that may be shared"),
    ]

    private static let sources: [Setting] = [
        Setting(
            "allowedNetworks", \.downloads.allowedNetworks, .networks,
            help: "CIDRs that are not public but may hold sources"),
        Setting(
            "allowedSources", \.allowedSources,
            .list(allowed: "patterns such as https://*.example.com/images/*, separated by commas") {
                SourcePattern($0)
            }, none: "any public", help: "URL patterns with * that sources must match", secrecy: .hidden),
        .inFile(origins, help: "named sources, in the file only", secrecy: .hidden),
        Setting(
            "allowedPorts", \.downloads.allowedPorts,
            .set(
                .list(allowed: "ports from 1 to 65535, separated by commas") {
                    UInt16($0).flatMap { $0 > 0 ? Int($0) : nil }
                }), default: "80,443", help: "ports of public sources"),
        Setting(
            "sourceFormats", \.sandbox.sourceFormats, .set(.formats(of: ImageFormat.allCases)),
            none: "\(list(ImageFormat.trusted)); \(list(ImageFormat.distrusted)) in a sandbox",
            help: "formats to decode"),
        Setting(
            "maxSourceBytes", \.downloads.maximumBytes, also: [\.api.maximumUploadBytes], .byteSize, default: "64MiB",
            help: "size of a source file"),
        Setting(
            "maxSourcePixels", \.pipeline.rules.limits.maximumSourcePixels, .integer(in: 1...10_000_000_000),
            default: "100000000", help: "pixels of a source"),
        Setting(
            "maxFrames", \.pipeline.rules.limits.maximumFrames, .integer(in: 1...100_000), default: "256",
            help: "frames with animated=1; later ones are cut off"),
        Setting(
            "incompleteImages", \.pipeline.rules.limits.incompleteImages, .choice, default: "refuse",
            help: "serve: images that lack pixels, for 60 s"),
    ]

    private static let answers: [Setting] = [
        Setting(
            "maxOutputPixels", \.pipeline.rules.limits.maximumOutputPixels, .integer(in: 1...10_000_000_000),
            default: "25000000", help: "pixels of a result, all frames together"),
        Setting(
            "maxOutputPixelsSlow", \.pipeline.rules.limits.maximumOutputPixelsSlow, .integer(in: 1...10_000_000_000),
            default: "6000000", help: "pixels of a frame in \(slow)"),
        Setting(
            "resample", \.pipeline.rules.light, .choice, default: "linear",
            help: "mix pixels as light; gamma: as their stored numbers"),
        Setting(
            "gamut", \.pipeline.rules.gamut, .choice, default: "srgb",
            help: "colors of answers: srgb or p3; auto: p3 for images that need it"),
        Setting(
            "jpegProgressive", \.pipeline.rules.efforts[.jpeg], .named(jpegScans, allowed: "auto, on or off"),
            default: "auto", help: "auto: if that is smaller; or on, off"),
        Setting(
            "webpEffort", \.pipeline.rules.efforts[.webp], .integer(in: 0...6), default: "\(ImageFormat.webp.effort)",
            help: "0…6: slower, smaller answers"),
        Setting(
            "avifEffort", \.pipeline.rules.efforts[.avif], .integer(in: 0...9), default: "\(ImageFormat.avif.effort)",
            help: "0…9: slower, smaller answers"),
        Setting(
            "jxlEffort", \.pipeline.rules.efforts[.jxl], .integer(in: 1...9), default: "\(ImageFormat.jxl.effort)",
            help: "1…9: slower, smaller answers; below 3 as 3"),
        Setting(
            "autoFormats", \.pipeline.rules.automaticFormats, .formats(), default: "webp",
            help: "what format=auto may choose by Accept"),
        Setting("uploads", \.api.takesUploads, .flag, default: "off", help: "on: clients may send images with POST"),
        Setting(
            "maxRenditions", \.api.maximumRenditions, .integer(in: 1...1_000), default: "64",
            help: "renditions of one POST /thumbnails"),
        Setting(
            "cdnLoop", \.loopName,
            .text(allowed: "a name such as alula or images.example.com") { text in
                (1...253).contains(text.utf8.count)
                    && text.utf8.allSatisfy { HTTPSyntax.isToken($0) || $0 == UInt8(ascii: ":") }
            }, default: "alula", help: "name in CDN-Loop; requests that carry it are refused"),
        Setting(
            "allowOrigin", \.api.allowOrigin, .init(SettingValues.originOfPages),
            help: "* or the origin whose pages may read answers (CORS)"),
        .inFile("watermarks", help: "named watermarks, in the file only"),
        .inFile("presets", help: "named sets of parameters, in the file only"),
        Setting(
            "onlyPresets", \.api.vocabulary.allowsOnlyPresets, .flag, default: "off",
            help: "on: no parameters but presets, url, dpr, format, tag, expires and sig"),
        Setting(
            "signingKeys", \.api.signingKeys, .init(SettingValues.keys),
            help: "hexadecimal keys; with one, unsigned requests get 403", secrecy: .secret),
    ]

    private static let times: [Setting] = [
        Setting(
            "requestTimeout", \.api.requestTimeout, also: [\.pipeline.requestTimeout], .duration, default: "15s",
            help: "a whole request: its body, queueing and work"),
        Setting(
            "maxQueueDelay", \.pipeline.maximumQueueDelay, .duration, default: "1500ms",
            help: "a miss that would wait longer for a worker gets 503"),
        Setting("decodeTimeout", \.pipeline.decodeTimeout, .duration, default: "8s", help: "one decode or render"),
        Setting(
            "drainDelay", \.drainDelay, .duration, default: "0s",
            help: "after SIGTERM: readiness fails, connections are accepted"),
        Setting(
            "shutdownTimeout", \.shutdownTimeout, .duration, default: "8s", help: "bound on the rest of the shutdown"),
    ]

    private static let process: [Setting] = [
        Setting(
            "renderWorkers", \.renderWorkers, .integer(in: 1...1_024), none: "number of cores",
            help: "concurrent decodes and renders"),
        Setting(
            "memoryBudget", \.memoryBudget, .init(MemoryShare.init), default: "60%",
            help: "bytes in flight, decodes and caches; or a share"),
        Setting("logFormat", \.logFormat, .choice, default: "json", help: "json or text"),
        Setting("logLevel", \.logLevel, .choice, default: "info", help: "debug, info, warning or error"),
        Setting("accessLog", \.api.accessLog, .flag, default: "on", help: "one log line a request"),
    ]

    static func named(_ name: String) -> Setting? { all.first { $0.name == name } }

    private static let slow = list(ImageFormat.written.filter(\.isSlow).reversed(), separator: " or ")

    private static func list(_ formats: [ImageFormat], separator: String = ",") -> String {
        formats.map(\.rawValue).joined(separator: separator)
    }

    private static let address = SettingParser.text(
        allowed: "an IPv4 or IPv6 address in figures, such as 127.0.0.1"
    ) { !$0.contains("/") && AddressNetwork($0) != nil }

    private static let port = SettingParser.integer(in: 0...65_535).map { UInt16($0) }

    private static let hostNames = SettingParser.list(allowed: "* or host names without ports, separated by commas") {
        OperatorSites.isName($0) ? $0 : nil
    }

    private static let jpegScans: [ExactText: Int] = [
        "auto": JPEGScanChoice.bySize.rawValue, "on": JPEGScanChoice.several.rawValue,
        "off": JPEGScanChoice.one.rawValue,
    ]
}
