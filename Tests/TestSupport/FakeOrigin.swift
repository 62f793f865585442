import Coordination
import Glibc

/// An HTTP server on a loopback address that follows a test's script for each path and records the requests.
///
/// One thread accepts connections, and one serves each. Connections are kept alive. Other paths return 404.
package final class FakeOrigin: Sendable {
    package struct StartFailure: Error {
        /// The failed call and its error number.
        package let detail: String
    }

    /// A received request.
    package struct Request: Sendable {
        package let method: String
        /// The target, including the query.
        package let target: String
        package let fields: [(name: String, value: String)]
        /// Empty without `Content-Length`.
        package var body: [UInt8] = []

        /// The value of the first field with this name.
        package func value(_ name: String) -> String? {
            fields.first { $0.name.lowercased() == name.lowercased() }?.value
        }
    }

    package let address: String
    package let port: Int
    private let listener: CInt
    private let core: FakeOriginCore

    /// Listens on a loopback address, by default on a free port.
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

    /// Sets the response to requests for this target; a path without a query matches any query.
    package func serve(_ path: String, _ answer: FakeResponse) {
        core.state.withLock { $0.answers[path] = answer }
    }

    /// Sets the response to paths without a script; if it is nil, they return 404.
    package func serveOthers(_ answer: @escaping @Sendable (Request) -> FakeResponse?) {
        core.state.withLock { $0.fallback = answer }
    }

    /// The absolute URL of a path; `host` is another name or address that leads to this origin.
    package func url(_ path: String, host: String? = nil) -> String { "http://\(host ?? address):\(port)\(path)" }

    /// Number of requests for this path so far, with any query.
    package func hits(_ path: String) -> Int { core.state.withLock { $0.hits[path] ?? 0 } }

    /// Waits for `count` requests for this path, or for any path.
    package func reachedHits(_ count: Int, of path: String? = nil) async {
        await core.state.reached { state in
            (path.map { state.hits[$0] ?? 0 } ?? state.requests.count) >= count
        }
    }

    /// Number of all requests so far.
    package var hits: Int { core.state.withLock { $0.requests.count } }

    /// All requests so far, in the order in which their headers were complete.
    package var requests: [Request] { core.state.withLock { $0.requests } }

    /// Number of requests in progress.
    package var activeCount: Int { core.state.withLock { $0.active } }

    /// Maximum number of concurrent requests.
    package var highestParallelism: Int { core.state.withLock { $0.highestParallelism } }

    /// Number of connections accepted so far.
    package var connectionCount: Int { core.state.withLock { $0.connectionCount } }

    /// Number of times that a client closed its connection before the response for this path was complete.
    package func abandonments(_ path: String) -> Int { core.state.withLock { $0.abandonments[path] ?? 0 } }

    /// Waits until a client closes its connection before the response for this path is complete.
    package func abandonment(of path: String) async { await core.state.reached { $0.abandonments[path] != nil } }

    /// Waits until no request is in progress.
    package func idle() async { await core.state.reached { $0.active == 0 } }

    package func stop() {
        core.state.withLock { state in
            if state.isStopped { return }
            state.isStopped = true
            // Each thread removes its descriptor from the set before closing it, so no number here is reused.
            for descriptor in state.open { shutdown(descriptor, CInt(SHUT_RDWR)) }
            shutdown(listener, CInt(SHUT_RDWR))
        }
    }
}
