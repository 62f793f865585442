import Coordination
import Dialects
package import Downloading
package import HTTPServing
package import Prefetching
import Program
import Recipes
package import Telemetry
import Text
package import ThumbnailAPI
package import ThumbnailPipeline

package struct Settings: Sendable {
    package var publicListener = HTTPServerConfiguration()
    package var adminListener = HTTPServerConfiguration()
    package var metricsListener: HTTPServerConfiguration?
    package var choosesMaximumConnections: Bool { chosen["maxConnections"] != nil }
    package var downloads = DownloadConfiguration()
    package var pipeline = PipelineConfiguration()
    package var disk = DiskSettings()
    package var sharedCache = SharedCacheSettings()
    package var resultStore = ResultStoreSettings()
    package var tenants: [TenantSettings] = []
    package var prefetch = PrefetchConfiguration()
    package var api = APIConfiguration()
    var dialects = DialectSettings()
    package var otherServiceVariables: [OtherServiceVariable] = []
    package var renderWorkers = availableProcessorCount()
    package var memoryBudget = MemoryShare.percent(60)
    package var sandbox = SandboxSettings()
    /// Whether to detect faces; nil means yes if the cascade is installed.
    package var findsFaces: Bool?
    package var exports = ExportSettings()
    package var notifying = NotificationSettings()
    package var logFormat = LogFormat.json
    package var chosenLogLevel: Logger.Level? { chosen["logLevel"] == nil ? nil : logLevel }
    package var logLevel = Logger.Level.info
    package var drainDelay = Duration.zero
    package var shutdownTimeout = Duration.seconds(8)
    /// The settings that were set explicitly.
    var chosen: [ExactText: EffectiveSetting] = [:]
    /// The texts as read, including secrets, to detect changes.
    var texts: [ExactText: String] = [:]
    /// Settings of the file that the environment overrides.
    var overridden: [String] = []

    package init() {
        publicListener.threads = availableProcessorCount()
        adminListener.threads = 1
        adminListener.maximumConnections = 256
        prefetch.maximumActive = max(1, availableProcessorCount() / 2)
        api.version = Program.version
        downloads.userAgent = "Alula/" + Program.version
        for setting in SettingTable.all {
            guard let value = setting.defaultValue else { continue }
            do {
                try setting.apply(&self, value)
            } catch {
                preconditionFailure("\(setting.name): invalid default; expected \(error.allowed)")
            }
        }
    }

    /// Creates the dialects; call this after the other settings are read.
    mutating func deriveDialects() {
        api.closingDialects = dialects.closing
        api.forwardsFields = downloads.origins.all.contains { !$0.forwarded.isEmpty }
        api.otherDialects = dialects.dialects(api.vocabulary)
    }

    /// Enables or disables face detection in all grammars.
    package mutating func setFaceDetection(_ isOn: Bool) {
        pipeline.rules.findsFaces = isOn
        api.vocabulary.findsFaces = isOn
        deriveDialects()
    }

    package var loopName: String? {
        get { api.loopName }
        set {
            api.loopName = newValue
            downloads.loopName = newValue
        }
    }

    /// The allowed sources; if there are any, they also apply to URLs outside named origins.
    var allowedSources: [SourcePattern] {
        get { downloads.allowedSources }
        set {
            downloads.allowsUnnamedSources = true
            downloads.allowedSources = newValue
        }
    }

    /// The listeners; a body may take no longer than the whole request, whose time counts from its header.
    package var listeners: (public: HTTPServerConfiguration, admin: HTTPServerConfiguration) {
        var served = publicListener
        var operated = adminListener
        served.bodyTimeout = api.requestTimeout
        served.isTrustedProxy = api.trustedProxies.contains
        operated.bodyTimeout = api.requestTimeout
        return (served, operated)
    }

    /// The sites of the admin listener; on a Unix socket, which no web page can reach, any `Host` is allowed.
    package var adminSites: AdminSites {
        adminListener.socketPath == nil ? api.adminSites : AdminSites(names: [AdminSites.anyName])
    }

    var contradictions: [Contradiction] {
        limitContradictions + listenerContradictions + originContradictions + dialects.contradictions(api.vocabulary)
    }

    private var limitContradictions: [Contradiction] {
        func atMost(_ preferred: String, _ preferredBytes: Int, capacity: String, _ bytes: Int) -> Contradiction? {
            Contradiction(
                preferred, capacity, when: preferredBytes > bytes,
                "\(preferred) (\(preferredBytes) bytes) is above \(capacity) (\(bytes) bytes)")
        }
        let ages = pipeline.clientMaxAge
        return [
            atMost(
                "decodedCachePreferred", pipeline.decodedCachePreferred, capacity: "decodedCacheCapacity",
                pipeline.decodedCacheCapacity),
            atMost(
                "resultCachePreferred", pipeline.resultCachePreferred, capacity: "resultCacheCapacity",
                pipeline.resultCacheCapacity),
            Contradiction(
                "clientMaxAgeMinimum", "clientMaxAgeMaximum", when: ages.minimum ?? 0 > ages.maximum ?? .max,
                "clientMaxAgeMinimum is above clientMaxAgeMaximum"),
            Contradiction(
                "autoQualityMin", "autoQualityMax", when: hasContradictoryQualities,
                "autoQualityMin is above autoQualityMax"),
        ].compactMap(\.self)
    }

    private var listenerContradictions: [Contradiction] {
        let metrics = metricsListener?.port ?? 0
        let port = publicListener.port
        let socket = publicListener.socketPath
        return [
            Contradiction(
                "metricsBind", when: metrics != 0 && [port, adminListener.port].contains(metrics),
                "metricsBind has the port \(metrics) of another listener"),
            Contradiction(
                "port", "adminPort",
                when: port != 0 && port == adminListener.port && socket == nil && adminListener.socketPath == nil,
                "port and adminPort are both \(port)"),
            Contradiction(
                "bind", "adminBind", when: socket != nil && socket == adminListener.socketPath,
                "bind and adminBind are both \(publicListener.bindAddress)"),
        ].compactMap(\.self)
    }

    private var originContradictions: [Contradiction] {
        let base = api.vocabulary.baseOrigin.flatMap { base in
            Contradiction(
                "baseOrigin", when: !downloads.origins.all.contains { $0.name + ":" == base.text },
                "baseOrigin: there is no origin \(base.text.dropLast()) in the settings file")
        }
        let store = resultStore.origin.flatMap { store in
            Contradiction(
                "resultStore", when: downloads.origins[store]?.isWritable != true,
                "resultStore: there is no origin \(store) with write in the settings file")
        }
        return [base, store].compactMap(\.self)
    }
}

struct Contradiction: Equatable {
    let settings: [String]
    let line: String
}

extension Contradiction {
    /// Returns nil unless `isWrong`.
    fileprivate init?(_ settings: String..., when isWrong: Bool, _ line: @autoclosure () -> String) {
        guard isWrong else { return nil }
        self.init(settings: settings, line: line())
    }
}

package enum MemoryShare: Equatable, Sendable {
    case bytes(Int)
    case percent(Int)
    static let smallest = 16 << 20

    init(_ text: String) throws(InvalidValue) {
        let number = text.hasSuffix("%") ? Int(text.dropLast().trimmingSpaces) : nil
        if let number, 1...100 ~= number {
            self = .percent(number)
        } else if let bytes = try? SettingParser.byteSize.parse(text), bytes >= Self.smallest {
            self = .bytes(bytes)
        } else {
            throw InvalidValue(allowed: "at least 16MiB, or a share of the memory such as 60%")
        }
    }

    package func byteCount(of total: Int) -> Int {
        switch self {
        case .bytes(let count): count
        case .percent(let percent): max(Self.smallest, total / 100 * percent)
        }
    }
}
