import Downloading
package import SharedCaching
import ThumbnailPipeline

package struct ResultStoreSettings: Sendable {
    package var origin: String?
    /// Of one request's waits.
    var timeout = Duration.milliseconds(200)
}

extension ResultStoreSettings {
    static let table: [Setting] = [
        Setting(
            "resultStore", \.resultStore.origin,
            .text(allowed: "the name of an origin with write in the settings file") { Origins.isName($0) },
            help: "named origin with write for results"),
        Setting(
            "resultStoreTimeout", \.resultStore.timeout, .duration(maximumSeconds: 10), default: "200ms",
            help: "time that one request may wait for the result store"),
    ]
}

extension Settings {
    package var resultStoreConfiguration: SharedStoreConfiguration {
        var configuration = SharedStoreConfiguration()
        configuration.timeout = min(resultStore.timeout, pipeline.requestTimeout)
        configuration.isReadOnly = disk.mode == .ephemeral
        configuration.key = sharedCache.credentials.key
        return configuration
    }
}
