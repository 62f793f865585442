import Coordination
import Dialects
package import Downloading
package import HTTPServing
import Program
package import Telemetry
import Text
package import ThumbnailAPI
package import ThumbnailPipeline

package struct Settings: Sendable {
    package var publicListener = HTTPServerConfiguration()
    package var operatorListener = HTTPServerConfiguration()
    package var metricsListener: HTTPServerConfiguration?
    package var choosesMaximumConnections: Bool { given.contains("maxConnections") }
    package var downloads = DownloadConfiguration()
    package var pipeline = PipelineConfiguration()
    package var disk = DiskSettings()
    package var sharedCache = SharedCacheSettings()
    package var resultStore = ResultStoreSettings()
    package var prefetch = PrefetchConfiguration()
    package var api = APIConfiguration()
    var dialects = DialectSettings()
    /// The variables of ``DialectSettings/environmentOf`` that are set, with their meanings.
    package var foreignVariables: [ForeignVariable] = []
    package var renderWorkers = availableProcessorCount()
    package var memoryBudget = MemoryShare.percent(60)
    package var sandbox = SandboxSettings()
    package var exports = ExportSettings()
    package var notifying = NotifyingSettings()
    package var logFormat = LogFormat.json
    package var chosenLogLevel: Logger.Level? { given.contains("logLevel") ? logLevel : nil }
    package var logLevel = Logger.Level.info
    package var drainDelay = Duration.zero
    package var shutdownTimeout = Duration.seconds(8)
    var given: Set<ExactText> = []

    /// Applies the defaults of the table.
    package init() {
        publicListener.threads = availableProcessorCount()
        operatorListener.threads = 1
        operatorListener.maximumConnections = 256
        prefetch.maximumActive = max(1, availableProcessorCount() / 2)
        api.version = Program.version
        downloads.userAgent = "Alula/" + Program.version
        for setting in SettingTable.all {
            guard let value = setting.defaultValue else { continue }
            do {
                try setting.apply(&self, value)
            } catch {
                preconditionFailure("\(setting.name): its default is not allowed; allowed is \(error.allowed)")
            }
        }
    }

    /// The service's name in `CDN-Loop`; nil for none.
    package var loopName: String? {
        get { api.loopName }
        set { (api.loopName, downloads.loopName) = (newValue, newValue) }
    }

    /// The URLs that sources must match; once there are some, also URLs of no named origin.
    var allowedSources: [SourcePattern] {
        get { downloads.allowedSources }
        set { (downloads.allowsUnnamedSources, downloads.allowedSources) = (true, newValue) }
    }

    /// The rules for allowed sources, in the settings' words: a part of keys, which changes only with the rules.
    ///
    /// No value contains a space or a line end.
    package var sourcePolicy: String {
        let sources = downloads.allowsUnnamedSources ? downloads.allowedSources.map(\.keyText) : ["named"]
        let rules = [
            ("allowedNetworks", downloads.allowedNetworks.map(\.keyText)),
            ("deniedNetworks", downloads.deniedNetworks.map(\.keyText)),
            ("allowedSources", sources),
            ("allowedPorts", downloads.allowedPorts.sorted().map { "\($0)" }),
        ]
        return rules.map { name, values in ([name] + values).joined(separator: " ") }.joined(separator: "\n")
    }

    /// The configurations of both listeners.
    ///
    /// A request's time counts from its header, so its body may take no longer than the whole request.
    package var listeners: (public: HTTPServerConfiguration, operators: HTTPServerConfiguration) {
        var (served, operated) = (publicListener, operatorListener)
        served.bodyTimeout = api.requestTimeout
        served.isTrustedProxy = api.trustedProxies.contains
        operated.bodyTimeout = api.requestTimeout
        return (served, operated)
    }

    var contradictions: [Contradiction] {
        var found: [Contradiction] = []
        func reject(_ settings: String..., when isWrong: Bool, _ line: @autoclosure () -> String) {
            if isWrong { found.append(Contradiction(settings, line())) }
        }
        func atMost(_ preferred: String, _ preferredBytes: Int, _ capacity: String, _ capacityBytes: Int) {
            reject(
                preferred, capacity, when: preferredBytes > capacityBytes,
                "\(preferred) is \(preferredBytes) bytes and \(capacity) is \(capacityBytes): allowed is at most the capacity"
            )
        }
        atMost(
            "decodedCachePreferred", pipeline.decodedCachePreferred, "decodedCacheCapacity",
            pipeline.decodedCacheCapacity)
        atMost(
            "resultCachePreferred", pipeline.resultCachePreferred, "resultCacheCapacity", pipeline.resultCacheCapacity)
        let ages = pipeline.clientMaxAge
        reject(
            "clientMaxAgeMinimum", "clientMaxAgeMaximum", when: ages.minimum ?? 0 > ages.maximum ?? .max,
            "clientMaxAgeMinimum is above clientMaxAgeMaximum: allowed is at most the maximum")
        reject(
            "autoQualityMin", "autoQualityMax", when: hasContradictoryQualities,
            "autoQualityMin is above autoQualityMax: allowed is at most the maximum")
        let metrics = metricsListener?.port ?? 0
        reject(
            "metricsBind", when: metrics != 0 && [publicListener.port, operatorListener.port].contains(metrics),
            "metricsBind has the port \(metrics) of another listener: allowed is one of its own")
        reject(
            "port", "adminPort", when: publicListener.port != 0 && publicListener.port == operatorListener.port,
            "port and adminPort are both \(publicListener.port): allowed are two different ports, or 0")
        if let base = api.vocabulary.baseOrigin {
            reject(
                "baseOrigin", when: !downloads.origins.all.contains { $0.name + ":" == base.text },
                "baseOrigin is \(base.text.dropLast()): allowed is the name of an origin in the file")
        }
        if let store = resultStore.origin {
            reject(
                "resultStore", when: downloads.origins[store]?.isWritable != true,
                "resultStore is \(store): allowed is the name of an origin in the file with write")
        }
        return found + dialects.contradictions(api.vocabulary)
    }
}

/// Settings that are valid individually but not together.
struct Contradiction: Equatable {
    /// The names of the settings, first the subject of the sentence.
    let settings: [String]
    let line: String

    init(_ settings: [String], _ line: String) {
        (self.settings, self.line) = (settings, line)
    }
}
