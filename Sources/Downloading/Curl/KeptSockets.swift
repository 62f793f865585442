import CCurlShim

/// The sockets of connections that libcurl may keep.
///
/// Bytes behind the end of an answer would be read as the answer to the next request on the connection, and libcurl
/// 7.88 uses a connection on which some wait. Confined to the thread `transfers`.
final class KeptSockets {
    /// A connection before a request is sent on it.
    enum Connection {
        /// Opened for this request.
        case new
        /// Used before, and nothing waits to be read on it.
        case quiet
        /// Used before, and something waits to be read on it.
        case soiled
    }

    /// The ends of a connection; connections to several peers may have one port here.
    struct Ends: Hashable {
        let remote: String
        let port: Int
        let localPort: Int
    }

    private var sockets: [Ends: CInt] = [:]
    /// The connection of each socket; the number of one that was closed becomes that of another one.
    private var ends: [CInt: Ends] = [:]

    /// The connection of a handle, which may be on one of the sockets that were opened for its request.
    func connection(_ own: Ends, of easy: CurlEasy, opened: [CInt]) -> Connection {
        if let socket = opened.first(where: { CCurlShim_local_port($0) == own.localPort }) {
            if let before = ends.updateValue(own, forKey: socket), before != own { sockets[before] = nil }
            sockets[own] = socket
            return .new
        }
        guard let socket = sockets[own], CCurlShim_local_port(socket) == own.localPort else { return .soiled }
        return unsafe CCurlShim_is_quiet(easy.handle, socket) != 0 ? .quiet : .soiled
    }
}
