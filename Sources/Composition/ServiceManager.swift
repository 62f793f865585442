import Coordination
import Glibc
import HTTPServing
import Settings

/// systemd or a similar supervisor, which may pass listening sockets and is notified of the service's state.
struct ServiceManager: Sendable {
    struct UnknownSocket: Error, CustomStringConvertible {
        let name: String

        var description: String {
            "the supervisor passed a socket named \"\(name)\" (FileDescriptorName=); known names are public and admin"
        }
    }

    private static let firstDescriptor: CInt = 3

    private let sockets: [(listener: SettingKeyPath<HTTPServerConfiguration>, descriptor: CInt)]
    private let notified: UnixSocketAddress?
    private let watchdogTimeout: Duration?

    /// - Parameter environment: `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES` of sd_listen_fds(3), `NOTIFY_SOCKET` of
    ///   sd_notify(3), `WATCHDOG_PID` and `WATCHDOG_USEC` of sd_watchdog_enabled(3).
    init(_ environment: [String: String], process: pid_t = getpid()) throws(UnknownSocket) {
        let isForThisProcess = environment["LISTEN_PID"].flatMap { pid_t($0) } == process
        let count = isForThisProcess ? environment["LISTEN_FDS"].flatMap { CInt($0) } ?? 0 : 0
        let names = environment["LISTEN_FDNAMES", default: ""].split(separator: ":", omittingEmptySubsequences: false)
        var sockets: [(listener: SettingKeyPath<HTTPServerConfiguration>, descriptor: CInt)] = []
        for index in 0..<max(count, 0) {
            let name = Int(index) < names.count ? String(names[Int(index)]) : ""
            switch name {
            case "public": sockets.append((\.publicListener, Self.firstDescriptor + index))
            case "admin": sockets.append((\.adminListener, Self.firstDescriptor + index))
            default: throw UnknownSocket(name: name)
            }
        }
        self.sockets = sockets
        notified = environment["NOTIFY_SOCKET"].flatMap { UnixSocketAddress($0) }
        let isWatched = environment["WATCHDOG_PID"].map { pid_t($0) == process } ?? true
        watchdogTimeout = isWatched ? environment["WATCHDOG_USEC"].flatMap { Int64($0) }.map { .microseconds($0) } : nil
    }

    func passSockets(to settings: inout Settings) {
        for (listener, descriptor) in sockets {
            settings[keyPath: listener].inheritedSocket = descriptor
            if Self.isUnixSocket(descriptor) {
                settings[keyPath: listener].bindAddress = HTTPServerConfiguration.socketPrefix + "inherited"
            }
        }
    }

    func reportReady() { notified?.send("READY=1") }

    /// Reports a reload; call ``reportReady()`` at its end.
    func reportReloading() {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        notified?.send("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1_000)")
    }

    func reportStopping() { notified?.send("STOPPING=1") }

    /// Reports twice per timeout from a task, so that the supervisor restarts the service if tasks no longer run.
    func startWatchdog(by timekeeper: any Timekeeper) {
        guard let notified, let watchdogTimeout else { return }
        Task {
            while true {
                notified.send("WATCHDOG=1")
                try await timekeeper.sleep(until: timekeeper.now + watchdogTimeout / 2)
            }
        }
    }

    private static func isUnixSocket(_ descriptor: CInt) -> Bool {
        var domain: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        return unsafe getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX
    }
}
