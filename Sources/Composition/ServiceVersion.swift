import Coordination
import Downloading
import Settings
import Telemetry
import Text
import ThumbnailAPI
import ThumbnailPipeline

/// All values that requests use from the settings; a reload replaces it entirely; requests keep theirs.
struct ServiceVersion: Sendable {
    let settings: Settings
    let rules: DownloadRules
    let thumbnails: ImagePipeline
    let resultWriter: ResultWriter
    let prefetchReader: PrefetchReader

    /// Creates a version; call ``Engine/use(_:)`` first.
    init(_ settings: Settings, engine: Engine) {
        self.settings = settings
        rules = engine.downloader.rules
        thumbnails = engine.pipeline.pinned(to: rules)
        resultWriter = engine.resultWriter
        prefetchReader = PrefetchReader(
            settings.api.nativeDialect, placing: resultWriter,
            callbacks: { [rules] in settings.notifying.violation(toCallback: $0, by: rules) })
    }
}

/// The responders of both listeners, which a reload replaces.
struct ServiceResponders: Sendable {
    let `public`: ReloadableResponder
    let admin: ReloadableResponder
    private let listeners: ServiceListeners
    private let version: Locked<ServiceVersion>

    init(_ listeners: ServiceListeners, version: Locked<ServiceVersion>) {
        self.listeners = listeners
        self.version = version
        let first = version.withLock { $0 }
        `public` = ReloadableResponder(listeners.publicResponder(of: first))
        admin = ReloadableResponder(listeners.adminResponder(of: first))
    }

    /// Returns the earlier version.
    func use(_ new: ServiceVersion) -> ServiceVersion {
        let earlier = version.exchange(new)
        `public`.use(listeners.publicResponder(of: new))
        admin.use(listeners.adminResponder(of: new))
        return earlier
    }
}
