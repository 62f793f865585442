import Coordination
import Dialects
import Downloading
import HTTPServing
import HTTPTypes
import Recipes
import Telemetry
import Text
import ThumbnailAPI
import ThumbnailPipeline

package enum SettingTable {
    package static let all: [Setting] = [
        listeners, downloads, caches, SharedCacheSettings.table, ResultStoreSettings.table, freshness, sources,
        responses, quality, sizes, DialectSettings.table, times, SandboxSettings.table, process, ExportSettings.table,
        NotificationSettings.table,
    ].flatMap(\.self)

    private static let listeners: [Setting] = [
        Setting(
            "bind", \.publicListener.bindAddress, as: address, default: "0.0.0.0",
            help: "address of the public listener, or unix:/path"),
        Setting(
            "port", \.publicListener.port, as: port, default: "8080",
            help: "port of the public listener; 0 picks a free one"),
        Setting(
            "adminBind", \.adminListener.bindAddress, as: address, default: "127.0.0.1",
            help: "address of the admin listener, or unix:/path"),
        Setting(
            "adminPort", \.adminListener.port, as: port, default: "9091",
            help: "port of the admin listener; 0 picks a free one"),
        Setting(
            "socketMode", \.publicListener.socketMode, also: [\.adminListener.socketMode], as: .mode, default: "0660",
            help: "permissions of Unix sockets"),
        Setting(
            "metricsBind", \.metricsListener, as: .listener,
            help: "ADDRESS:PORT of a listener that serves only metrics, such as 0.0.0.0:9090"),
        Setting(
            "adminHosts", \.api.adminSites, as: hostNames.map { AdminSites(names: $0) },
            help: "host names of the admin listener besides addresses and localhost; * allows any"),
        Setting(
            "adminToken", \.api.adminToken,
            as: .init(allowed: "printable ASCII characters without spaces") { text in
                text.hasOnlyBytes(\.isVisibleASCII) ? Secret(text) : nil
            }, help: "token that the admin listener requires in Authorization: Bearer", secrecy: .secret, reloads: true),
        Setting(
            "keepAliveTimeout", \.publicListener.keepAliveTimeout, also: [\.adminListener.keepAliveTimeout],
            as: .duration, default: "60s", help: "timeout of idle connections"),
        Setting(
            "headerTimeout", \.publicListener.headerTimeout, also: [\.adminListener.headerTimeout], as: .duration,
            default: "5s", help: "timeout of a request header"),
        Setting(
            "maxConnections", \.publicListener.maximumConnections, as: .integer(in: 1...1_000_000), default: "4096",
            help: "maximum connections; idle ones are closed to make room"),
        Setting(
            "maxConnectionsPerAddress", \.publicListener.maximumConnectionsPerAddress,
            also: [\.api.maximumRequestsPerClient], as: .integer(in: 1...1_000_000),
            help: "maximum connections from one address"),
        Setting(
            "trustedProxies", \.api.trustedProxies, as: SettingParser.networks.map { TrustedProxies($0) },
            help: "networks of proxies whose X-Forwarded-For and traceparent are trusted"),
    ]

    private static let downloads: [Setting] = [
        Setting(
            "maxActiveDownloads", \.downloads.maximumActiveDownloads, as: .integer(in: 1...10_000), default: "32",
            help: "maximum concurrent transfers", forCommands: true, reloads: true),
        Setting(
            "maxActiveDownloadsPerHost", \.downloads.maximumActiveDownloadsPerHost, as: .integer(in: 1...10_000),
            default: "8", help: "maximum concurrent transfers to one host:port", forCommands: true, reloads: true),
        Setting(
            "downloadOrder", \.downloads.order, as: .choice, default: "fifo",
            help: "order of queued transfers: fifo or lifo"),
        Setting(
            "maxQueuedDownloads", \.downloads.maximumQueuedDownloads, as: .integer(in: 0...1_000_000), default: "1024",
            help: "maximum queued transfers; above it, requests get 503", reloads: true),
        Setting(
            "maxRedirects", \.downloads.maximumRedirects, as: .integer(in: 0...20), default: "5",
            help: "maximum redirects, each checked like the first URL", forCommands: true),
        Setting(
            "connectTimeout", \.downloads.connectTimeout, as: .duration, default: "3s",
            help: "timeout of name lookup and connection to an origin", forCommands: true),
        Setting(
            "firstByteTimeout", \.downloads.firstByteTimeout, as: .duration, default: "5s",
            help: "timeout until the first byte of a response", forCommands: true),
        Setting(
            "downloadTimeout", \.downloads.downloadTimeout, as: .duration, default: "10s",
            help: "timeout of a whole transfer", forCommands: true),
        Setting(
            "partialFetch", \.downloads.fetchesRanges, as: .flag, default: "on",
            help: "fetch only the bytes that /info needs, if the origin supports ranges", forCommands: true,
            reloads: true),
        Setting(
            "userAgent", \.downloads.userAgent,
            as: .text(allowed: "1 to 256 printable ASCII characters") { text in
                (1...256).contains(text.utf8.count) && text.hasOnlyBytes(\.isPrintableASCII) && !text.isBlank
            }, whenUnset: "Alula/VERSION", help: "User-Agent for origins; some require a contact in it",
            forCommands: true),
        Setting(
            "outboundProxy", \.downloads.proxy, as: .proxy,
            help: "HTTP proxy for sources of absolute URLs, reached by CONNECT", forCommands: true, reloads: true),
    ]

    private static let caches: [Setting] = [
        Setting(
            "decodedCacheCapacity", \.pipeline.decodedCacheCapacity, as: .byteSize, default: "100MiB",
            help: "decoded images in memory: eviction starts above this", reloads: true),
        Setting(
            "decodedCachePreferred", \.pipeline.decodedCachePreferred, as: .byteSize, default: "60MiB",
            help: "decoded images in memory: eviction stops at this", reloads: true),
        Setting(
            "decodedCachePolicy", \.pipeline.decodedCachePolicy, as: .choice, default: "cost",
            help: "eviction of decoded images: cost (cheapest to decode first) or lru", reloads: true),
        Setting(
            "resultCacheCapacity", \.pipeline.resultCacheCapacity, as: .byteSize, default: "64MiB",
            help: "results in memory: eviction starts above this", reloads: true),
        Setting(
            "resultCachePreferred", \.pipeline.resultCachePreferred, as: .byteSize, default: "48MiB",
            help: "results in memory: eviction stops at this", reloads: true),
        Setting(
            "sourceCacheMemory", \.pipeline.sourceCacheMemory, as: .byteSize, default: "20MiB",
            help: "maximum size of sources in memory", reloads: true),
        Setting(
            "sourceCachePath", \.disk.path,
            as: .text(allowed: "the path of a folder, created if missing") { text in
                text.utf8.contains { $0 != UInt8(ascii: "/") } && !text.utf8.contains(0)
            }, help: "folder of the disk cache; one process only"),
        Setting(
            "sourceCacheDisk", \.disk.sourceCapacity, as: .byteSize, default: "150MiB",
            help: "maximum size of sources on disk", reloads: true),
        Setting(
            "resultCacheDisk", \.disk.resultCapacity, as: .byteSize, default: "150MiB",
            help: "maximum size of results on disk", reloads: true),
        Setting("sessionMode", \.disk.mode, as: .choice, default: "default", help: "ephemeral: never write to disk"),
    ]

    private static let freshness: [Setting] = [
        Setting(
            "staleWhileRevalidate", \.downloads.staleAllowances.whileRevalidating, as: .seconds, default: "0s",
            help: "default time to serve stale sources during revalidation"),
        Setting(
            "staleIfError", \.downloads.staleAllowances.ifError, as: .seconds, default: "24h",
            help: "default time to serve stale sources while the origin fails"),
        Setting(
            "clientCacheControl", \.api.honorsClientCacheControl,
            as: .named(["ignore": false, "honour": true], allowed: "ignore or honour"), default: "ignore",
            help: "honour: apply clients' Cache-Control"),
        Setting(
            "clientMaxAgeMinimum", \.pipeline.clientMaxAge.minimum, as: .seconds, help: "minimum max-age for clients"),
        Setting(
            "clientMaxAgeMaximum", \.pipeline.clientMaxAge.maximum, as: .seconds, help: "maximum max-age for clients"),
        Setting(
            "clientMaxAgeFixed", \.pipeline.clientMaxAge.fixed, as: .seconds,
            help: "max-age of all responses that may be shared"),
    ]

    private static let sources: [Setting] = [
        Setting(
            "allowedNetworks", \.downloads.allowedNetworks, as: .networks,
            help: "non-public networks that may serve sources", forCommands: true, reloads: true),
        Setting(
            "allowedSources", \.allowedSources,
            as: .list(allowed: "patterns such as https://*.example.com/images/*, separated by commas") {
                SourcePattern($0)
            }, whenUnset: "any public", help: "URL patterns with * that sources must match", secrecy: .hidden,
            forCommands: true, reloads: true
        ).copying { settings, new in
            settings.downloads.allowedSources = new.downloads.allowedSources
            settings.downloads.allowsUnnamedSources = new.downloads.allowsUnnamedSources
        },
        .inFile(
            "origins", help: "named sources (settings file only)", secrecy: .hidden,
            copying: { $0.downloads.origins = $1.downloads.origins }
        ) { value, environment, settings in
            let (origins, problems) = OriginsReader.read(value, environment: environment)
            settings.downloads.origins = Origins(settings.downloads.origins.all + origins.all)
            return problems
        },
        Setting(
            "allowedPorts", \.downloads.allowedPorts,
            as: .set(
                .list(allowed: "ports from 1 to 65535, separated by commas") {
                    UInt16($0).flatMap { $0 > 0 ? Int($0) : nil }
                }), default: "80,443", help: "allowed ports of public sources", forCommands: true, reloads: true),
        Setting(
            "sourceFormats", \.sandbox.sourceFormats, as: .set(.formats(of: ImageFormat.allCases)),
            whenUnset: "\(list(ImageFormat.trusted)); \(list(ImageFormat.distrusted)) in a sandbox",
            help: "formats to decode", forCommands: true),
        Setting(
            "maxSourceBytes", \.downloads.maximumBytes, also: [\.api.maximumUploadBytes], as: .byteSize,
            default: "64MiB", help: "maximum size of a source", forCommands: true),
        Setting(
            "maxSourcePixels", \.pipeline.rules.limits.maximumSourcePixels, as: .integer(in: 1...10_000_000_000),
            default: "100000000", help: "maximum pixels of a source", forCommands: true),
        Setting(
            "maxFrames", \.pipeline.rules.limits.maximumFrames, as: .integer(in: 1...100_000), default: "256",
            help: "maximum frames with animated=1; the rest is dropped", forCommands: true),
        Setting(
            "incompleteImages", \.pipeline.rules.limits.incompleteImages, as: .choice, default: "refuse",
            help: "refuse or serve truncated images (cached for 60 s)", forCommands: true),
    ]

    private static let responses: [Setting] = [
        Setting(
            "maxOutputPixels", \.pipeline.rules.limits.maximumOutputPixels, as: .integer(in: 1...10_000_000_000),
            default: "25000000", help: "maximum pixels of a result, summed over frames", forCommands: true),
        Setting(
            "maxOutputPixelsSlow", \.pipeline.rules.limits.maximumOutputPixelsSlow,
            as: .integer(in: 1...10_000_000_000), default: "6000000", help: "maximum pixels of a frame in \(slow)",
            forCommands: true),
        Setting(
            "resample", \.pipeline.rules.light, as: .choice, default: "linear",
            help: "linear: resample in linear light; gamma: in stored values", forCommands: true),
        Setting(
            "gamut", \.pipeline.rules.gamut, as: .choice, default: "srgb",
            help: "gamut of results: srgb or p3; auto: p3 for images that need it", forCommands: true),
        Setting(
            "keepMetadata", \.pipeline.rules.keptMetadata,
            as: SettingParser(allowed: "none, or rights and ai with a comma between them") { KeptMetadata($0) },
            default: "ai",
            help: "metadata to keep: none, or a list of rights, ai", forCommands: true),
        Setting(
            "faceDetection", \.findsFaces, as: .flag, whenUnset: "on if opencv-data is installed",
            help: "find faces for gravity=face and include=faces", forCommands: true),
        Setting(
            "jpegProgressive", \.pipeline.rules.efforts[.jpeg], as: .named(jpegScans, allowed: "auto, on or off"),
            default: "auto", help: "auto: progressive if smaller; or on, off", forCommands: true),
        effort(.webp, in: 0...6), effort(.avif, in: 0...9), effort(.jxl, in: 1...9, note: "; 1 and 2 mean 3"),
        Setting(
            "autoFormats", \.pipeline.rules.automaticFormats, as: .formats(), default: "webp",
            help: "formats that format=auto may choose by Accept"),
        Setting(
            "uploads", \.api.takesUploads, as: .flag, default: "off", help: "on: clients may upload images with POST"),
        Setting(
            "maxRenditions", \.api.maximumRenditions, as: .integer(in: 1...1_000), default: "64",
            help: "maximum renditions of one POST /thumbnails"),
        Setting(
            "cdnLoop", \.loopName,
            as: .text(allowed: "a name such as alula or images.example.com") { text in
                (1...253).contains(text.utf8.count)
                    && text.utf8.allSatisfy { HTTPSyntax.isToken($0) || $0 == UInt8(ascii: ":") }
            }, default: "alula", help: "name in CDN-Loop; requests that carry it are rejected"),
        Setting(
            "allowOrigin", \.api.allowOrigin, as: .webOrigin,
            help: "* or the origin whose pages may read responses (CORS)"),
        .inFile(
            "watermarks", help: "named watermarks (settings file only)",
            copying: { $0.api.vocabulary.watermarks = $1.api.vocabulary.watermarks }
        ) { value, _, settings in
            VocabularyReader.read(into: &settings) { $0.readWatermarks(value) }
        },
        .inFile(
            "presets", help: "named sets of parameters (settings file only)",
            copying: { settings, new in
                settings.api.vocabulary.presets = new.api.vocabulary.presets
                settings.api.vocabulary.dialectPresets = new.api.vocabulary.dialectPresets
            }
        ) { value, _, settings in
            VocabularyReader.read(into: &settings) { $0.readPresets(value) }
        },
        TenantSettings.setting,
        Setting(
            "costHeader", \.api.showsCosts, as: .flag, default: "off",
            help: "on: Alula-Cost shows the cost of each response", reloads: true),
        Setting(
            "onlyPresets", \.api.vocabulary.allowsOnlyPresets, as: .flag, default: "off",
            help: "on: allow only presets, url, dpr, format, tag, expires and sig", reloads: true),
        Setting(
            "signingKeys", \.api.signingKeys, as: .keys, help: "hexadecimal keys; if set, unsigned requests get 403",
            secrecy: .secret, reloads: true),
    ]

    private static let times: [Setting] = [
        Setting(
            "requestTimeout", \.api.requestTimeout, also: [\.pipeline.requestTimeout], as: .duration, default: "15s",
            help: "timeout of a whole request"),
        Setting(
            "maxQueueDelay", \.pipeline.maximumQueueDelay, as: .duration, default: "1500ms",
            help: "a miss that would wait longer for a worker thread gets 503"),
        Setting(
            "decodeTimeout", \.pipeline.decodeTimeout, as: .duration, default: "8s",
            help: "timeout of one decode or render", forCommands: true),
        Setting(
            "drainDelay", \.drainDelay, as: .duration, default: "0s",
            help: "time between SIGTERM and closing the listener; readiness fails meanwhile"),
        Setting(
            "shutdownTimeout", \.shutdownTimeout, as: .duration, default: "8s",
            help: "time to finish running requests after drainDelay"),
    ]

    private static let process: [Setting] = [
        Setting(
            "renderWorkers", \.renderWorkers, as: .integer(in: 1...1_024), whenUnset: "number of cores",
            help: "concurrent decodes and renders", forCommands: true),
        Setting(
            "memoryBudget", \.memoryBudget, as: .init(MemoryShare.init), default: "60%",
            help: "memory for transfers, decodes and caches: bytes or a percentage", forCommands: true),
        Setting(
            "logFormat", \.logFormat, as: .choice, default: "json", help: "json, text or journal", forCommands: true),
        Setting(
            "logLevel", \.logLevel, as: .choice, default: "info", help: "debug, info, warning or error",
            forCommands: true, reloads: true),
        Setting(
            "accessLog", \.api.accessLog, as: accessLog, default: "on", help: "log each request: on, off or errors",
            reloads: true),
    ]

    /// The settings of commands that render.
    package static let ofCommands = all.filter(\.isForCommands)

    static func named(_ name: String) -> Setting? { all.first { $0.name == name } }

    private static let slow = list(ImageFormat.written.filter(\.isSlow).reversed(), separator: ", ")

    private static func list(_ formats: [ImageFormat], separator: String = ",") -> String {
        formats.map(\.rawValue).joined(separator: separator)
    }

    private static func effort(_ format: ImageFormat, in range: ClosedRange<Int>, note: String = "") -> Setting {
        Setting(
            "\(format.rawValue)Effort", \.pipeline.rules.efforts[format], as: .integer(in: range),
            default: "\(format.effort)",
            help: "\(range.lowerBound) to \(range.upperBound); higher is slower and smaller\(note)", forCommands: true)
    }

    private static let address = SettingParser.text(
        allowed: "a numeric IPv4 or IPv6 address, such as 127.0.0.1, or unix:/path of at most 107 bytes"
    ) { text in
        let prefix = HTTPServerConfiguration.socketPrefix
        guard text.hasPrefix(prefix) else { return !text.contains("/") && AddressNetwork(text) != nil }
        let path = String(text.dropFirst(prefix.count))
        return path.hasPrefix("/") && UnixSocketAddress(path) != nil
    }

    private static let accessLog = SettingParser.named(
        ["on": .on, "true": .on, "off": .off, "false": .off, "errors": AccessLogChoice.errors],
        allowed: "on, off or errors")

    private static let port = SettingParser.integer(in: 0...65_535).map { UInt16($0) }

    private static let hostNames = SettingParser.list(allowed: "* or host names without ports, separated by commas") {
        AdminSites.isName($0) ? $0 : nil
    }

    private static let jpegScans: [ExactText: Int] = [
        "auto": JPEGScanChoice.bySize.rawValue, "on": JPEGScanChoice.several.rawValue,
        "off": JPEGScanChoice.one.rawValue,
    ]
}
