import CCurlShim

/// The sockets of connections that libcurl may reuse.
///
/// libcurl 7.88 reuses connections with pending input. Bytes after the end of a response would then be read as the
/// response to the next request. Used only on the `transfers` thread.
final class ReusableSockets {
    enum Connection {
        case new
        /// A reused connection without pending input.
        case quiet
        case pendingInput
    }

    struct Ends: Hashable {
        let remote: String
        let port: Int
        let localPort: Int
    }

    private var sockets: [Ends: CInt] = [:]
    private var ends: [CInt: Ends] = [:]

    /// Returns the state of the connection, which may use one of the sockets opened for its request.
    func connection(_ socketEnds: Ends, of easy: CurlEasy, opened: [CInt]) -> Connection {
        if let socket = opened.first(where: { CCurlShim_local_port($0) == socketEnds.localPort }) {
            if let before = ends.updateValue(socketEnds, forKey: socket), before != socketEnds { sockets[before] = nil }
            sockets[socketEnds] = socket
            return .new
        }
        guard let socket = sockets[socketEnds], CCurlShim_local_port(socket) == socketEnds.localPort else {
            return .pendingInput
        }
        return unsafe CCurlShim_is_quiet(easy.handle, socket) != 0 ? .quiet : .pendingInput
    }
}
