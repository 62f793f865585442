import CMicrohttpd
import CMicrohttpdShim
import Coordination
import Glibc
import HTTPTypes
import Synchronization
import Telemetry

/// A connection and its current request.
///
/// Its event thread calls ``receive(target:length:)``, ``handle(method:version:upload:)``, ``complete()`` and
/// ``close()``. The watch thread and the tasks of deferred responses access only atomic values and `shared`.
@safe
final class ClientConnection: OpenConnection, @unchecked Sendable {
    /// The progress of the request; event thread only.
    enum Step {
        case awaitingLine
        case lineReceived(ReceivedTarget)
        case accepted(HTTPRequest)
        case recognized(RecurringResponse)
        case receiving(ReceivedBody)
        case deferred(PendingDeferral)
        case responded
    }

    /// The deferral for which the connection waits; event thread only.
    struct PendingDeferral {
        let ticket: UInt64
        /// The short wait; nil if a task computes the response and disconnects are watched.
        var wait: ShortWait<HTTPResponse>?
    }

    struct Shared {
        var isOpen = true
        var isEvicted = false
        var deferral = Deferral()
        var streamWait = StreamWait()
    }

    let context: ServingContext
    let connection: OpaquePointer
    let socket: ConnectionSocket
    let peer: PeerAddress?
    var step = Step.awaitingLine
    /// The watch for disconnects while a body is streamed; event thread only.
    var streamTicket: UInt64?
    private var isRejected = false
    /// Whether the connection closes after the response to the current request; event thread only.
    private var hasLastRequest = false
    private let occupancy: ConnectionOccupancy
    let shared = Locked(Shared())
    private let consumedBytes = Atomic<Int>(0)
    /// Event thread only.
    private var memory = HeaderMemory()
    /// Watch thread only.
    private var unfinishedHeader = UnfinishedHeader()
    /// Watch thread only.
    private var bodyPace = BodyPace()

    @unsafe
    init(context: ServingContext, connection: OpaquePointer, descriptor: CInt, peer: PeerAddress?) {
        self.context = context
        unsafe self.connection = connection
        socket = ConnectionSocket(descriptor: descriptor)
        self.peer = peer
        occupancy = ConnectionOccupancy(at: context.timekeeper.now)
        socket.limitStall(toMilliseconds: UInt32(context.configuration.stalledReaderTimeout.milliseconds))
    }

    @unsafe
    func receive(target: UnsafePointer<CChar>, length: Int) {
        let maximum = context.configuration.maximumTargetLength
        step = unsafe .lineReceived(
            ReceivedTarget(target, length: length, maximumLength: maximum, remembered: memory.header?.target))
    }

    /// Handles a new header, a complete request, or a resumed connection; returning false closes the connection.
    ///
    /// A response queued in the first call for a request closes the connection. Rejections use this, because their body
    /// is not read.
    @unsafe
    func handle(method: UnsafePointer<CChar>, version: UnsafePointer<CChar>, upload: UnsafeRawBufferPointer) -> Bool {
        switch step {
        case .lineReceived(let target):
            let header = unsafe ReceivedHeader(connection: connection, method: method, version: version)
            return accept(header, target: target)
        case .accepted(let request):
            let header = unsafe ReceivedHeader(connection: connection, method: method, version: version)
            return respond(to: request, header: header)
        case .recognized(let response): return send(response)
        case .receiving(let body): return unsafe receive(upload, of: body)
        case .deferred(let deferral): return deliver(deferral)
        case .awaitingLine, .responded: return false
        }
    }

    func complete() {
        // The library does not call the handler again if a resumed connection is broken.
        if case .deferred(let deferral) = step {
            _ = end(deferral)
            _ = deferral.wait?.abandon()
        }
        endStreamWait()
        // A connection that is closed while receiving had a late body.
        if case .receiving(let body) = step, occupancy.isClosing { body.interrupt(by: .bodyTimeout) }
        step = .awaitingLine
        occupancy.endRequest(at: context.timekeeper.now)
    }

    func close() {
        shared.withLock { $0.isOpen = false }
        if isRejected { context.linger(socket.descriptor) }
        context.remove(self)
    }

    /// Called before the library sends its own error page with this status; event thread only.
    ///
    /// The library then sends no page, which would be HTML without the responder's fields; in some cases it would even
    /// send its header twice.
    func reject(insteadOf status: UInt32) {
        guard var rejection = HTTPRejection(status: status), !isRejected else { return }
        // The watch thread may have ended the connection since.
        switch step {
        case .awaitingLine, .lineReceived:
            guard occupancy.acquire(for: .request) else { return }
            // The library reports a malformed length as too large.
            if rejection == .bodyTooLarge { rejection = .badRequest }
        case .receiving: guard occupancy.endBody() else { return }
        case .accepted, .recognized, .deferred, .responded: return
        }
        reject(with: context.responder.response(to: rejection))
    }

    func closeLateBody(at now: Duration, lastResponse: () -> [UInt8]) {
        guard occupancy.isInBody else {
            bodyPace = BodyPace()
            return
        }
        shared.withLock { shared in
            guard shared.isOpen else { return }
            let isTooSlow = bodyPace.isTooSlow(receivedBytes: socket.receivedBytes, at: now)
            guard isTooSlow || occupancy.isBodyLate(at: now), occupancy.acquireFromBody() else { return }
            socket.send(lastResponse())
            socket.end()
        }
    }

    /// Shuts down the receiving half, which the client has closed.
    ///
    /// The library's polling is edge-triggered. After a short read it waits for the next edge, even if the end of the
    /// stream arrived with the last bytes. Without this, only the body's deadline would end the request.
    func wakeForAbandonedBody() {
        shared.withLock { shared in
            if shared.isOpen, occupancy.isInBody, socket.isAtEnd { socket.endReceiving() }
        }
    }

    /// Writes a response directly to the socket, because the library cannot send one at this point.
    private func reject(with response: HTTPResponse) {
        isRejected = true
        socket.send(RejectionText.bytes(of: response, at: context.timekeeper.secondsSince1970))
        socket.endSending()
    }

    private func accept(_ header: ReceivedHeader, target: ReceivedTarget) -> Bool {
        consumedBytes.wrappingAdd(header.size, ordering: .releasing)
        guard occupancy.acquire(for: .request) else { return false }
        if target.isKnown, let response = memory.header?.response(to: header) {
            step = .recognized(response)
            return true
        }
        switch header.read(target: target, within: context.configuration, for: context.responder) {
        case .request(var request):
            request.peer = peer
            step = .accepted(request)
            return true
        case .requestWithBody(var request, let length, let bodyPolicy):
            request.peer = peer
            consumedBytes.wrappingAdd(length ?? 0, ordering: .releasing)
            // Chunks cannot be distinguished from the next header by byte counts, so this is the connection's last
            // request.
            if length == nil { hasLastRequest = true }
            switch bodyPolicy.admission(request, length) {
            case .accepted(let reservation):
                let body = ReceivedBody(
                    of: request, length: length, maximumLength: bodyPolicy.maximumLength, reservation: reservation,
                    within: context.configuration.bodyTimeout, by: context.timekeeper)
                step = .receiving(body)
                occupancy.beginBody(until: body.deadline)
                return true
            case .rejected(let response):
                isRejected = true
                return send(response, isLast: true)
            }
        case .rejection(let rejection):
            isRejected = true
            return send(context.responder.response(to: rejection), isLast: true)
        }
    }

    /// Takes a part of the body, where an empty part ends it; returning false ends the connection.
    @unsafe
    private func receive(_ part: UnsafeRawBufferPointer, of body: ReceivedBody) -> Bool {
        guard part.count > 0 else {
            guard occupancy.endBody(), let (request, reservation) = body.finish() else { return false }
            return reservation.map { send($0.respond(to: request)) } ?? respond(to: request)
        }
        do throws(ReceivedBody.Failure) {
            try unsafe body.append(part)
            return true
        } catch {
            let response =
                switch error {
                case .late: interrupt(body, by: .bodyTimeout)
                case .tooLong: interrupt(body, by: .bodyTooLarge)
                case .rejected(let response): response
                }
            // Free the received bytes before the library ends the connection.
            step = .responded
            // The library accepts no response before the end of the body.
            if occupancy.endBody() { reject(with: response) }
            return false
        }
    }

    private func interrupt(_ body: ReceivedBody, by rejection: HTTPRejection) -> HTTPResponse {
        body.interrupt(by: rejection)
        return context.responder.response(to: rejection)
    }

    private var isLastRequest: Bool { hasLastRequest || context.isDraining }

    private func respond(to request: HTTPRequest, header: ReceivedHeader? = nil) -> Bool {
        let response = context.responder.respond(to: request)
        if case .recurring(_, let responder) = response, let header {
            memory.remember(header, of: request, by: responder)
        }
        return send(response)
    }

    func send(_ pending: PendingResponse<HTTPResponse>) -> Bool {
        switch pending {
        case .ready(let response): return send(response, isLast: isLastRequest)
        case .recurring(let response, _): return send(response)
        case .deferred(let work): suspend(until: work)
        case .waiting(let wait): suspend(during: wait)
        }
        return true
    }

    private func send(_ response: HTTPResponse, isLast: Bool) -> Bool {
        step = .responded
        let allowsPausing = if case .streamed(let body) = response.body { body.allowsPausing } else { false }
        guard let outgoing = OutgoingResponse(response, isLast: isLast || allowsPausing, on: self) else { return false }
        report(invalidFields: outgoing.invalidFieldCount)
        if allowsPausing { disableStallLimits() }
        return unsafe outgoing.queue(on: connection)
    }

    /// Allows the client to pause for any time while it reads the last response.
    private func disableStallLimits() {
        socket.limitStall(toMilliseconds: 0)
        unsafe CMicrohttpdShim_limit_idleness(connection, 0)
    }

    private func send(_ recurring: RecurringResponse) -> Bool {
        // The last response of a connection has an additional field.
        guard !context.isDraining else { return send(recurring.response, isLast: true) }
        step = .responded
        let form = recurring.encodedForm { response in
            let form = SharedOutgoingResponse(response)
            report(invalidFields: form?.invalidFieldCount ?? 0)
            return form
        }
        return unsafe (form as? SharedOutgoingResponse)?.queue(on: connection) ?? false
    }

    private func report(invalidFields count: Int) {
        guard count > 0 else { return }
        context.logger.error("invalid response fields dropped", ["count": .int(count)])
    }

    func isHeaderOverdue(at now: Duration, limit: Duration) -> Bool {
        defer { occupancy.recordHeader(since: unfinishedHeader.since) }
        guard occupancy.isFree else {
            unfinishedHeader = UnfinishedHeader()
            return false
        }
        return unfinishedHeader.isOverdue(
            pendingBytes: pendingBytes, afterBytes: consumedBytes.load(ordering: .relaxed), at: now, limit: limit)
    }

    func isExpectingRequest(at now: Duration) -> Bool {
        occupancy.idleSince.map { now - $0 < .milliseconds(500) } ?? false
    }

    func closeIdle(lastResponse: [UInt8]?) {
        shared.withLock { shared in
            guard shared.isOpen, lastResponse != nil || pendingBytes <= 0 else { return }
            guard occupancy.acquire(for: .watch) else { return }
            if let lastResponse { socket.send(lastResponse) }
            socket.end()
        }
    }

    func candidate(at now: Duration) -> ConnectionEviction.Candidate<any OpenConnection> {
        let mayBeEvicted = shared.withLock { $0.isOpen && isIdle(at: now) }
        return ConnectionEviction.Candidate(
            connection: self, network: peer.map { ClientNetwork(of: $0) } ?? ClientNetwork(bits: nil),
            idleSince: mayBeEvicted ? occupancy.idleSince : nil)
    }

    func closeForEviction(idleSince time: Duration, at now: Duration) -> Bool {
        shared.withLock { shared in
            guard shared.isOpen, occupancy.idleSince == time, isIdle(at: now) else { return false }
            guard occupancy.acquire(for: .watch) else { return false }
            shared.isEvicted = true
            socket.end()
            return true
        }
    }

    var isEvicted: Bool { shared.withLock { $0.isEvicted } }

    /// Whether the connection has no served, buffered or incomplete request; the descriptor must be open.
    private func isIdle(at now: Duration) -> Bool {
        guard occupancy.isFree else { return false }
        return occupancy.hasSlowHeader(at: now) || pendingBytes <= 0
    }

    func abort() -> Bool {
        if abandon(ticket: nil) { return true }
        return shared.withLock { shared in
            guard shared.isOpen else { return false }
            // Read this first, because it changes as soon as the connection ends.
            let isInRequest = occupancy.isInRequest
            socket.end()
            return isInRequest
        }
    }

    private var pendingBytes: Int {
        let consumed = consumedBytes.load(ordering: .acquiring)
        return socket.receivedBytes - consumed
    }
}
