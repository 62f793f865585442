import Coordination
import Glibc

/// An HTTP server on a loopback address that follows a test's script for each path, and records the requests.
///
/// One thread accepts, one serves each connection; connections are kept alive. Paths without a script are answered 404.
package final class FakeOrigin: Sendable {
    /// The origin could not be started.
    package struct StartFailure: Error {
        /// The failed call and its error number.
        package let detail: String
    }

    /// A request as it arrived.
    package struct Request: Sendable {
        package let method: String
        /// The target, query included.
        package let target: String
        /// The header fields in order.
        package let fields: [(name: String, value: String)]
        /// The bytes after the header, if `Content-Length` announces some.
        package var body: [UInt8] = []

        /// The value of the first field of this name.
        package func value(_ name: String) -> String? {
            fields.first { $0.name.lowercased() == name.lowercased() }?.value
        }
    }

    /// The address it listens on.
    package let address: String
    /// The port it listens on.
    package let port: Int
    private let listener: CInt
    private let core: FakeOriginCore

    /// Listens on an address of the loopback network, by default on a free port.
    package init(address: String = "127.0.0.1", port: Int = 0) throws(StartFailure) {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var isOn: CInt = 1
        unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<CInt>.size))
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = in_port_t(port).bigEndian
        unsafe inet_pton(AF_INET, address, &name.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &name) { name in
            unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                guard unsafe bind(listener, name, length) == 0, listen(listener, 1024) == 0 else { return errno }
                return unsafe getsockname(listener, name, &length) == 0 ? 0 : errno
            }
        }
        guard status == 0 else {
            close(listener)
            throw StartFailure(detail: "bind or listen: error \(status)")
        }
        self.address = address
        self.port = Int(in_port_t(bigEndian: name.sin_port))
        self.listener = listener
        core = FakeOriginCore()
        let core = core
        startThread { core.acceptConnections(of: listener) }
    }

    deinit {
        stop()
    }

    /// Answers requests for this target, with or without a query, in this way from now on.
    package func serve(_ path: String, _ answer: FakeAnswer) {
        core.state.withLock { $0.answers[path] = answer }
    }

    /// Answers every request without a script for its path; nil restores 404.
    package func serveOthers(_ answer: @escaping @Sendable (Request) -> FakeAnswer?) {
        core.state.withLock { $0.fallback = answer }
    }

    /// The absolute URL of a path, under `host` if another name or address leads here.
    package func url(_ path: String, host: String? = nil) -> String { "http://\(host ?? address):\(port)\(path)" }

    /// Requests for this path so far, whatever their query.
    package func hits(_ path: String) -> Int { core.state.withLock { $0.hits[path] ?? 0 } }

    /// Waits for `count` requests for this path, or for any path.
    package func reachedHits(_ count: Int, of path: String? = nil) async {
        await core.state.reached { state in
            (path.map { state.hits[$0] ?? 0 } ?? state.requests.count) >= count
        }
    }

    /// All requests so far.
    package var hits: Int { core.state.withLock { $0.requests.count } }

    /// The requests so far, in the order in which their headers were complete.
    package var requests: [Request] { core.state.withLock { $0.requests } }

    /// Requests being answered at this moment.
    package var activeCount: Int { core.state.withLock { $0.active } }

    /// The most requests that were being answered at one moment.
    package var highestParallelism: Int { core.state.withLock { $0.highestParallelism } }

    /// Connections accepted so far.
    package var connectionCount: Int { core.state.withLock { $0.connectionCount } }

    /// How often a client closed its connection while this path was being answered.
    package func abandonments(_ path: String) -> Int { core.state.withLock { $0.abandonments[path] ?? 0 } }

    /// Waits until a client has closed its connection while this path was being answered.
    package func abandonment(of path: String) async { await core.state.reached { $0.abandonments[path] != nil } }

    /// Waits until no request is being answered.
    package func idle() async { await core.state.reached { $0.active == 0 } }

    /// Closes the listener and all connections.
    package func stop() {
        core.state.withLock { state in
            if state.isStopped { return }
            state.isStopped = true
            // Each descriptor is closed by its own thread, and only after it has left the set: its number cannot be
            // another's here.
            for descriptor in state.open { shutdown(descriptor, CInt(SHUT_RDWR)) }
            shutdown(listener, CInt(SHUT_RDWR))
        }
    }
}
