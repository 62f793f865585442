import Downloading
import Glibc
import HTTPServing
package import Settings
import SharedCaching

package enum DescriptorLimit {
    package struct TooLow: Error, CustomStringConvertible {
        let granted: Int
        let needed: Int

        package var description: String {
            "maxConnections and maxActiveDownloads need \(needed) descriptors, the system grants \(granted); "
                + "lower them or raise the limit (ulimit -n)"
        }
    }

    /// The minimum with which the service is useful.
    private static let minimumConnections = 64
    // Upper estimates of the sockets, pipes, files and blocks of shared memory.
    private static let perDownload = 2
    private static let perStoreRead = 2
    private static let perRenderWorker = 18
    private static let everythingElse = 128

    /// Raises the soft limit to the hard one; if that is too low, lowers `maxConnections` unless it is configured.
    package static func raise(toServe settings: inout Settings) throws(TooLow) {
        var limit = current
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        try fit(&settings, into: granted)
    }

    private static var current: rlimit {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return limit
    }

    private static var granted: Int { Int(clamping: current.rlim_cur) }

    /// Fits a reload into the limit; listeners keep their connections, so more downloads may require a restart.
    static func fit(_ reloaded: inout ReloadedSettings, after current: Settings, into granted: Int? = nil) {
        guard reloaded.settings.downloads.maximumActiveDownloads > current.downloads.maximumActiveDownloads,
            needed(by: reloaded.settings) > granted ?? Self.granted
        else { return }
        reloaded.keep("maxActiveDownloads", of: current)
    }

    private static func needed(by settings: Settings) -> Int {
        let listeners =
            [settings.publicListener, settings.adminListener] + [settings.metricsListener].compactMap(\.self)
        let storeReads = settings.resultStore.origin == nil ? 0 : SharedStore.maximumObjectReads
        let idleConnections = CurlLoader.maximumIdleConnections * (1 + settings.downloads.origins.all.count)
        return listeners.map(\.maximumDescriptors).reduce(0, +) + perStoreRead * storeReads
            + perDownload * settings.downloads.maximumActiveDownloads + idleConnections
            + perRenderWorker * settings.renderWorkers + everythingElse
    }

    /// Lowers `maxConnections`, unless it is configured.
    static func fit(_ settings: inout Settings, into granted: Int) throws(TooLow) {
        let needed = needed(by: settings)
        guard granted < needed else { return }
        let possible = settings.publicListener.maximumConnections - (needed - granted)
        guard !settings.choosesMaximumConnections, possible >= minimumConnections else {
            throw TooLow(granted: granted, needed: needed)
        }
        settings.publicListener.maximumConnections = possible
    }
}
