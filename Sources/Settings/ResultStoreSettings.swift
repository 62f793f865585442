import Downloading
package import SharedCaching
import ThumbnailPipeline

/// The persistent store of results.
package struct ResultStoreSettings: Sendable {
    /// The named origin that stores them; nil for none.
    package var origin: String?
    /// Maximum total time that one request may wait for it.
    var timeout = Duration.milliseconds(200)
}

extension ResultStoreSettings {
    static let table: [Setting] = [
        Setting(name: "resultStore", defaultText: "none", help: "named origin with write where results stay") {
            (settings, text) throws(InvalidValue) in
            guard Origins.isName(text) else {
                throw InvalidValue(allowed: "the name of an origin in the file with write")
            }
            settings.resultStore.origin = text
        },
        .duration(
            "resultStoreTimeout", \.resultStore.timeout, mostSeconds: 10, default: "200ms",
            help: "wait of one request for the result store"),
    ]
}

extension Settings {
    /// The configuration of the result store; an ephemeral session writes no results there.
    package var resultStoreConfiguration: ObjectStoreConfiguration {
        var configuration = ObjectStoreConfiguration()
        configuration.timeout = min(resultStore.timeout, pipeline.requestTimeout)
        configuration.isReadOnly = disk.mode == .ephemeral
        configuration.key = sharedCache.credentials.key
        return configuration
    }
}
