import CLibssl
import Coordination
import Glibc

/// Terminates TLS in front of a ``FakeOrigin``, with one connection to the origin for each client connection.
package final class FakeTLSFront: Sendable {
    package let port: Int
    private let listener: CInt
    private let handshakes = Locked(0)

    /// Listens on a free port and sends `certificate`, its intermediate authorities, and `others`.
    ///
    /// - Parameter clientAuthority: Issuer that client certificates must have; nil accepts clients without one.
    package init(
        origin: FakeOrigin, certificate: FakeCertificate, alsoSending others: [FakeCertificate] = [],
        demanding clientAuthority: FakeCertificate? = nil
    ) throws(FakeOrigin.StartFailure) {
        // libssl writes without `MSG_NOSIGNAL` after the client has closed the connection.
        signal(SIGPIPE, SIG_IGN)
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard let port = listenOnLoopback(listener) else {
            close(listener)
            throw FakeOrigin.StartFailure(detail: "bind or listen: error \(errno)")
        }
        self.port = port
        self.listener = listener
        let server = TLSServer(certificate, certificate.intermediates + others, demanding: clientAuthority)
        let handshakes = handshakes
        acceptEach(on: listener) { client in
            server.serve(client, upstream: origin.port) { handshakes.withLock { $0 += 1 } }
        }
    }

    deinit {
        shutdown(listener, CInt(SHUT_RDWR))
    }

    /// Number of successful handshakes so far.
    package var handshakeCount: Int { handshakes.withLock { $0 } }

    /// The absolute URL of a path under a host name that leads to this server.
    package func url(_ path: String, host: String) -> String { "https://\(host):\(port)\(path)" }
}

/// The server's TLS context; libssl allows its use by many threads once it is configured.
@safe
private final class TLSServer: @unchecked Sendable {
    private let context: OpaquePointer

    init(
        _ certificate: FakeCertificate, _ others: [FakeCertificate], demanding clientAuthority: FakeCertificate?
    ) {
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else {
            preconditionFailure("libssl does not start")
        }
        unsafe self.context = context
        unsafe SSL_CTX_use_certificate(context, certificate.certificate)
        unsafe SSL_CTX_use_PrivateKey(context, certificate.key)
        for authority in others {
            unsafe X509_up_ref(authority.certificate)
            unsafe SSL_CTX_ctrl(context, SSL_CTRL_EXTRA_CHAIN_CERT, 0, UnsafeMutableRawPointer(authority.certificate))
        }
        guard let clientAuthority else { return }
        unsafe X509_STORE_add_cert(SSL_CTX_get_cert_store(context), clientAuthority.certificate)
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }

    deinit {
        unsafe SSL_CTX_free(context)
    }

    /// Performs the handshake, then copies bytes in both directions until either side closes.
    func serve(_ client: CInt, upstream port: Int, onHandshake: () -> Void) {
        guard let session = unsafe SSL_new(context) else { return }
        defer { unsafe SSL_free(session) }
        unsafe SSL_set_fd(session, client)
        guard unsafe SSL_accept(session) == 1 else { return }
        onHandshake()
        let upstream = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(upstream) }
        guard connectToLoopback(upstream, port: port) else { return }
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            var watched = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: upstream, events: Int16(POLLIN), revents: 0),
            ]
            if unsafe SSL_pending(session) == 0, unsafe poll(&watched, 2, -1) < 0, errno != EINTR { return }
            if unsafe SSL_pending(session) > 0 || watched[0].revents != 0 {
                let count = unsafe SSL_read(session, &buffer, CInt(buffer.count))
                guard count > 0, unsafe send(upstream, buffer, Int(count), CInt(MSG_NOSIGNAL)) == Int(count) else {
                    return
                }
            }
            if watched[1].revents != 0 {
                let count = unsafe recv(upstream, &buffer, buffer.count, 0)
                guard count > 0, unsafe SSL_write(session, buffer, CInt(count)) == CInt(count) else {
                    unsafe SSL_shutdown(session)
                    return
                }
            }
        }
    }
}
