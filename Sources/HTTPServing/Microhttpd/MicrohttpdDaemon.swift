import CMicrohttpd
import CMicrohttpdShim
import Coordination
import Glibc
import HTTPTypes

@safe
final class MicrohttpdDaemon: @unchecked Sendable {
    private let raw: OpaquePointer
    private let callbacks: UnsafeMutablePointer<CMicrohttpdShim_callbacks>

    init(_ socket: ListeningSocket, context: ServingContext) throws(HTTPServerError) {
        let configuration = context.configuration
        let threads = UInt32(max(1, configuration.threads))
        unsafe callbacks = .allocate(capacity: 1)
        // Balanced in `stop`, when no thread uses the context.
        unsafe callbacks.initialize(to: makeCallbacks(Unmanaged.passRetained(context).toOpaque()))
        // At its own limit the library stops accepting and keeps clients waiting, so the limit must never be reached.
        var settings = CMicrohttpdShim_settings(
            listening_descriptor: socket.isInherited ? -1 : socket.descriptor, threads: threads,
            connections_per_thread: UInt32(configuration.maximumConnections + ConnectionEviction.maximumClosings + 1),
            idle_seconds: UInt32(max(1, configuration.keepAliveTimeout.seconds.rounded(.up))),
            buffer_size: configuration.connectionBufferSize)
        guard let raw = unsafe CMicrohttpdShim_start(callbacks, &settings) else {
            let error = errno
            unsafe Unmanaged<ServingContext>.fromOpaque(callbacks.pointee.context).release()
            unsafe callbacks.deallocate()
            throw .cannotStart(systemError: error)
        }
        unsafe self.raw = raw
    }

    /// Accepts connections from the backlog; never called after ``stop()``.
    ///
    /// - Returns: The number of accepted clients.
    @discardableResult
    func acceptWaiting(on socket: ListeningSocket, atMost limit: Int) -> Int {
        var count = 0
        while count < limit, unsafe CMicrohttpdShim_accept(raw, socket.descriptor) { count += 1 }
        return count
    }

    func stop() {
        unsafe MHD_stop_daemon(raw)
        unsafe Unmanaged<ServingContext>.fromOpaque(callbacks.pointee.context).release()
        unsafe callbacks.deallocate()
    }
}

extension HTTPServerConfiguration {
    /// Large enough that our limits apply first, but no larger.
    ///
    /// The buffer contains the request header, a record per field and the response header. The library clears all of it
    /// after each request, which is a large part of the cost of a small response, and evicts other data from the core's
    /// cache.
    fileprivate var connectionBufferSize: Int {
        let responseHeaderLength = 4_096
        return maximumTargetLength + maximumFieldsLength + maximumFieldCount * 64 + responseHeaderLength
    }
}

private func makeCallbacks(_ context: UnsafeMutableRawPointer) -> CMicrohttpdShim_callbacks {
    unsafe CMicrohttpdShim_callbacks(
        context: context,
        accepts: { context, address in
            unsafe Unmanaged<ServingContext>.fromOpaque(context.unsafelyUnwrapped).takeUnretainedValue()
                .admit(PeerAddress(address))
        },
        opened: {
            unsafe open($0.unsafelyUnwrapped, connection: $1.unsafelyUnwrapped, descriptor: $2, peer: PeerAddress($3))
        },
        closed: { unsafe close($0.unsafelyUnwrapped) },
        target_received: { peer, target, length in
            unsafe connection(peer.unsafelyUnwrapped).receive(target: target.unsafelyUnwrapped, length: length)
        },
        handle: { peer, _, method, version, upload, size in
            unsafe connection(peer.unsafelyUnwrapped)
                .handle(
                    method: method.unsafelyUnwrapped, version: version.unsafelyUnwrapped,
                    upload: UnsafeRawBufferPointer(start: upload, count: size))
        },
        completed: { unsafe connection($0.unsafelyUnwrapped).complete() },
        refuses: { unsafe connection($0.unsafelyUnwrapped).reject(insteadOf: $1) })
}

extension HTTPRejection {
    /// Returns the rejection for a status that the library reports; nil if the request is not at fault.
    init?(status: UInt32) {
        switch status {
        case 400: self = .badRequest
        case 413: self = .bodyTooLarge
        case 414: self = .targetTooLong
        case 431: self = .fieldsTooLarge
        case 505: self = .versionNotSupported
        default: return nil
        }
    }
}

@unsafe
private func open(
    _ context: UnsafeMutableRawPointer, connection raw: OpaquePointer, descriptor: CInt, peer: PeerAddress?
) -> UnsafeMutableRawPointer {
    let context = unsafe Unmanaged<ServingContext>.fromOpaque(context).takeUnretainedValue()
    let connection = unsafe ClientConnection(context: context, connection: raw, descriptor: descriptor, peer: peer)
    context.add(connection)
    // Balanced in `close`, the library's last use of it.
    return unsafe Unmanaged.passRetained(connection).toOpaque()
}

extension PeerAddress {
    /// Returns nil for a Unix socket.
    fileprivate init?(_ address: CMicrohttpdShim_address) {
        guard address.high != 0 || address.low != 0 else { return nil }
        self.init(high: address.high, low: address.low)
    }
}

@unsafe
private func close(_ peer: UnsafeMutableRawPointer) {
    let connection = unsafe Unmanaged<ClientConnection>.fromOpaque(peer).takeRetainedValue()
    connection.close()
}

@unsafe
private func connection(_ peer: UnsafeMutableRawPointer) -> ClientConnection {
    unsafe Unmanaged<ClientConnection>.fromOpaque(peer).takeUnretainedValue()
}
