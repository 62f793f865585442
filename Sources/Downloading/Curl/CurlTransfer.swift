import CCurl
import CCurlShim
import Coordination
import HTTPTypes
import Memory
import Text

/// One load, including redirects and retries; used only on the `transfers` thread.
final class CurlTransfer {
    enum Outcome {
        case success(TransferResult)
        case redirect(String)
        case again
        case retry
        case failure(DownloadError)
    }

    private static let pauseBeforeRetry = Duration.milliseconds(100)
    /// One for the first challenge, and one for a stale nonce.
    private static let maximumChallenges = 2
    private static let maximumTunnels = 4

    let load: CurlInbox.Load
    private(set) var hop = TransferHop()

    /// The handle that libcurl works on, and the profile that owns it; nil between hops.
    private var attached: (easy: CurlEasy, profile: CurlProfile)?
    private var clock: TransferClock
    private var timings = TransferTimings()
    private var lookupBegan = Duration.zero
    private let maximumBytes: Int
    private let timekeeper: any Timekeeper
    private let startedAt: Duration
    private var trail: RedirectTrail
    private var body = TransferBody()
    private var requestedAt: HTTPDate
    private var failure: DownloadError?
    private var hasRetried = false
    private let mayRetry: () -> Bool
    private let sockets: ReusableSockets
    private var pauseEnd: Duration?
    private var challenges = 0
    /// The index of the checked address that the proxy connects to next.
    private var tunnelIndex = 0

    init(
        _ load: CurlInbox.Load, now: Duration, timekeeper: any Timekeeper, sockets: ReusableSockets = ReusableSockets(),
        mayRetry: @escaping () -> Bool = { false }
    ) {
        self.sockets = sockets
        self.load = load
        self.timekeeper = timekeeper
        self.mayRetry = mayRetry
        let configuration = load.request.identity.rules.configuration
        requestedAt = HTTPDate(secondsSince1970: timekeeper.secondsSince1970)
        maximumBytes = min(configuration.maximumBytes, load.request.maximumBytes ?? .max)
        clock = TransferClock(configuration, now: now, timeLimit: load.request.timeLimit)
        startedAt = now
        trail = RedirectTrail(start: load.request.identity.target, maximum: configuration.maximumRedirects)
    }

    var rules: OriginRules { load.request.identity.rules }
    var url: SourceURL { trail.current }
    var wallTime: HTTPDate { HTTPDate(secondsSince1970: timekeeper.secondsSince1970) }

    /// Whether the current hop goes to the named origin, and no earlier redirect left it.
    var isAtOwnOrigin: Bool { !trail.hasLeftOrigin && rules.origin != nil }

    private var isPrivate: Bool { isAtOwnOrigin && rules.forwardsFields }

    var clientFields: ClientFields? { isPrivate ? load.request.identity.clientFields : nil }

    /// The key that signs the current hop; nil if it is not signed.
    var signingKey: OriginCredentials.AccessKey? { isAtOwnOrigin ? load.key : nil }

    /// The proxy of the current hop; nil for calls.
    var proxy: SourceURL? { load.request.isCall ? nil : (isAtOwnOrigin ? rules : rules.unnamed).configuration.proxy }

    /// The URL whose host must be resolved next; nil if all are resolved.
    var unresolvedURL: SourceURL? {
        if hop.hostAddresses == nil { return url }
        return hop.proxyAddresses == nil ? proxy : nil
    }

    func setAddresses(_ addresses: [IPAddress]) {
        if hop.hostAddresses == nil {
            hop.hostAddresses = addresses
        } else {
            hop.proxyAddresses = addresses.map(\.unmapped)
        }
    }

    /// The address that the proxy must connect to; nil without a proxy.
    var tunnelTarget: IPAddress? { proxy == nil ? nil : hop.checkedAddresses[tunnelIndex % hop.checkedAddresses.count] }

    /// Allows new connections only to these addresses, and reused ones only to peers for which `isAllowed` is true.
    func beginConnecting(to addresses: [IPAddress], isAllowed: @escaping (IPAddress) -> Bool) {
        hop.checkedAddresses = addresses.map(\.unmapped)
        hop.isAllowed = isAllowed
    }

    /// The fields of the current hop in addition to the common ones.
    var extraFields: HTTPFields { purpose.fields(load.request.condition) }

    private var purpose: ResponseHead.Purpose {
        if load.request.upload != nil { return .put }
        if let partial = body.partial { return .rest(partial) }
        let isConditional = load.request.condition?.url == namedURL
        if let range = load.request.range { return .range(range, at: url.canonical, isConditional: isConditional) }
        return isConditional ? .ifChanged : .whole
    }

    private var namedURL: String {
        let identity = load.request.identity
        return url == identity.target ? identity.url.canonical : url.canonical
    }

    func beginHop(to location: String, at now: Duration) throws(DownloadError) {
        let before = url.origin
        let wasPrivate = isPrivate
        try trail.follow(location)
        if let head = hop.head { trail.restrict(head.reuseRestrictions(ofPrivate: wasPrivate && url.origin != before)) }
        tunnelIndex = 0
        body.startOver()
        beginHop(at: now)
    }

    func beginHop(at now: Duration) {
        clock.beginHop(at: now)
        hop = TransferHop()
    }

    /// Pauses before the hop is retried; the connection timeout keeps running.
    func beginRetry(at now: Duration) {
        hop = TransferHop()
        pauseEnd = now + Self.pauseBeforeRetry
    }

    func endPause(at now: Duration) -> Bool {
        guard let end = pauseEnd, now >= end else { return false }
        pauseEnd = nil
        return true
    }

    func beginLookup(at now: Duration) { lookupBegan = now }

    func endLookup(at now: Duration) { timings.dns += now - lookupBegan }

    func attach(_ easy: CurlEasy, of profile: CurlProfile) { attached = (easy, profile) }

    /// Records the timings of the handle and returns it; nil if there is none.
    func detach() -> (easy: CurlEasy, profile: CurlProfile)? {
        if let attached { addTimings(of: attached.easy) }
        defer { attached = nil }
        return attached
    }

    func hasExpired(at now: Duration) -> Bool { clock.hasExpired(at: now) }

    func connectTimeLeft(at now: Duration) -> Duration { clock.connectTimeLeft(at: now) }

    var nextCheck: Duration { min(clock.nextCheck, pauseEnd ?? clock.nextCheck) }

    /// Called by libcurl for each line of headers and trailers; returning false ends the transfer.
    @unsafe
    func readHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        clock.recordResponse(at: timekeeper.now)
        load.progress.beginResponse()
        do throws(DownloadError) {
            let line = unsafe Span<UInt8>(_unsafeElements: line.bindMemory(to: UInt8.self))
            guard let head = try hop.reader.read(line) else { return true }
            hop.head = head
            let decision = head.decision(
                maximumBytes: maximumBytes, on: purpose, needsBody: load.request.needsBody,
                successes: isAtOwnOrigin ? load.request.successes : nil)
            hop.decision = decision
            switch decision {
            case .accept:
                if head.status != 206 { load.progress.markWhole() }
                load.progress.begin(expecting: head.contentLength)
                body.begin(
                    head, requestedAt: requestedAt, isRedirected: namedURL != load.request.identity.url.canonical)
                return true
            case .resume: return true
            case .notModified, .restart, .redirect, .reject, .stop:
                // Forget earlier sockets: the authenticated request may reuse them.
                if isChallenged { hop.sockets.removeAll() }
                // Some origins send content with a 204: do not reuse the connection.
                return decision != .reject(.emptyBody) && head.contentLength ?? 0 <= TransferHop.maximumDrainedBytes
            }
        } catch {
            failure = error
            return false
        }
    }

    @unsafe
    func readBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        clock.received(bytes.count)
        guard hop.takesBody else { return unsafe hop.drain(bytes, keeping: signingKey != nil) }
        guard body.count + bytes.count <= maximumBytes else {
            failure = .tooLarge
            return false
        }
        if let receivedRange, body.count + bytes.count > receivedRange.bytes.count {
            failure = .protocolError("the body is longer than the range")
            return false
        }
        do throws(DownloadError) {
            try load.progress.receive(bytes.count)
        } catch {
            failure = error
            return false
        }
        unsafe body.append(bytes)
        if hop.pauses(after: bytes.count) { attached?.easy.pauseReceiving() }
        return true
    }

    /// Continues reading after a pause; returns the error of bytes that libcurl had buffered.
    func resumeReceiving() -> CURLcode {
        hop.resume()
        return attached?.easy.resumeReceiving() ?? CURLE_OK
    }

    /// Called by libcurl before each connection; opens a socket to a checked address, and rejects any other.
    @unsafe
    func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        guard let target = unsafe IPAddress(CCurlShim_socket_address(address)),
            (hop.proxyAddresses ?? hop.checkedAddresses).contains(target.unmapped)
        else {
            failure = .sourceNotAllowed("addresses: a connection to an unchecked address")
            return -1
        }
        let descriptor = unsafe socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
        hop.sockets.append(descriptor)
        return descriptor
    }

    /// Called by libcurl when a new or reused connection is ready; returning false ends the transfer.
    func willSendRequest(to remote: String, port: Int, from localPort: Int) -> Bool {
        clock.recordConnection(at: timekeeper.now)
        requestedAt = wallTime
        guard isExpected(remote, port: port) else {
            failure = .sourceNotAllowed("addresses: connected to \(remote), port \(port), which was not checked")
            return false
        }
        guard !isChallenged || challenges < Self.maximumChallenges, let easy = attached?.easy else { return false }
        let ends = ReusableSockets.Ends(remote: remote, port: port, localPort: localPort)
        let connection = sockets.connection(ends, of: easy, opened: hop.sockets)
        hop.connection = connection
        // Nothing was sent; libcurl closes the connection.
        guard connection != .pendingInput else { return false }
        if isChallenged {
            challenges += 1
            hop.beginAuthentication()
            return true
        }
        // libcurl retries by itself if a reused connection is dead; count that toward our limit and budget.
        hop.requests += 1
        guard hop.requests == 1 || useRetry() else {
            failure = .unreachable("a reused connection was closed")
            return false
        }
        return true
    }

    /// Whether libcurl is connected to the proxy, or to an allowed address of the URL's host.
    ///
    /// When libcurl reuses a proxy connection, it compares the proxy's name and the address behind it.
    private func isExpected(_ remote: String, port: Int) -> Bool {
        guard let address = IPAddress(remote) else { return false }
        if let proxy { return port == proxy.port }
        return hop.isAllowed(address) && port == url.port
    }

    /// Whether libcurl may answer the origin's challenge.
    private var isChallenged: Bool {
        guard isAtOwnOrigin, case .digest? = rules.origin?.credentials else { return false }
        return hop.head?.status == 401
    }

    func outcome(_ code: CURLcode?) -> Outcome {
        if let failure { return .failure(failure) }
        switch hop.decision {
        case .redirect(let location): return .redirect(location)
        case .reject(let error):
            recordRejection()
            return .failure(isPrivate ? hop.denial(error) : hop.explained(error))
        case .stop: return .success(.head)
        case .restart:
            body.startOver()
            load.progress.recordResumption(at: nil)
            return .again
        case .notModified:
            timings.total = timekeeper.now - startedAt
            return .success(
                .notModified(
                    SourceConfirmation(
                        headerFields: trail.restricted(hop.head?.fields ?? [:]), requestedAt: requestedAt,
                        receivedAt: wallTime, timings: timings)))
        case .accept, .resume, nil: break
        }
        guard let code else { return .failure(.timedOut) }
        if hop.connection == .pendingInput { return .again }
        if code != CURLE_OK, proxy != nil, hop.requests == 0, !(200...299).contains(hop.tunnelStatus) {
            return tunnelFailure(code)
        }
        // Bytes of an earlier response arrived after the check of the connection.
        if code == CURLE_UNSUPPORTED_PROTOCOL, hop.connection == .quiet, hop.head == nil, useRetry() { return .again }
        if code == CURLE_COULDNT_CONNECT, useRetry() { return .retry }
        guard code == CURLE_OK else {
            let isCut = code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR
            if isCut, hop.takesBody, receivedRange == nil, body.prepareResumption() {
                load.progress.recordResumption(at: body.partial?.offset)
                return .again
            }
            return .failure(DownloadError(code, at: stage))
        }
        return finish()
    }

    /// Continues with the host's next address if the proxy cannot reach this one.
    private func tunnelFailure(_ code: CURLcode) -> Outcome {
        guard hop.tunnelStatus > 0 else {
            if code == CURLE_COULDNT_CONNECT, useRetry() { return .retry }
            return .failure(.unreachable("the proxy: \(unsafe String(cString: curl_easy_strerror(code)))"))
        }
        tunnelIndex += 1
        guard tunnelIndex < min(hop.checkedAddresses.count, Self.maximumTunnels) else {
            return .failure(.unreachable("the proxy responded to CONNECT with status \(hop.tunnelStatus)"))
        }
        return .again
    }

    private func finish() -> Outcome {
        guard let response = body.response else { return .failure(.unreachable("closed before the end of the header")) }
        guard body.count > 0, let (bytes, validator) = body.finish() else { return .failure(.emptyBody) }
        guard bytes.count == response.head.contentLength ?? bytes.count else {
            return .failure(.protocolError("the body differs from Content-Length"))
        }
        timings.total = timekeeper.now - startedAt
        let fields = trail.restricted(response.head.fields)
        let head = SourceHead(
            identity: load.request.identity, url: namedURL, status: receivedRange == nil ? response.head.status : 200,
            validator: validator, headerFields: fields,
            selectingFields: SourceHead.selectingFields(fields, of: rules.selectingFields),
            requestedAt: response.requestedAt, receivedAt: wallTime)
        guard receivedRange != nil else {
            return .success(
                .source(
                    ReceivedSource(head: head, bytes: bytes, timings: timings, codings: response.head.contentCodings)))
        }
        guard let range = SourceRange(head, of: response.head, bytes: bytes, at: url.canonical, timings: timings) else {
            return .failure(.protocolError("the body differs from Content-Range"))
        }
        return .success(.range(range))
    }

    /// The requested range, if the response contains it.
    private var receivedRange: RequestedRange? { body.response?.head.status == 206 ? load.request.range : nil }

    private var stage: DownloadError.Stage {
        body.response != nil ? .receiving : hop.requests > 0 ? .waiting : .connecting
    }

    private func recordRejection() {
        guard let head = hop.head, head.fields.contains(.cacheControl) || head.fields.contains(.expires) else { return }
        let freshness = SourceFreshness(
            status: head.status, headerFields: head.fields, requestedAt: requestedAt, receivedAt: wallTime)
        let seconds =
            freshness.storability == .shared ? max(0, freshness.remainingLifetime(at: wallTime.secondsSince1970)) : 0
        load.progress.setErrorLifetime(seconds: seconds)
    }

    private func useRetry() -> Bool {
        guard !hasRetried, mayRetry() else { return false }
        hasRetried = true
        return true
    }

    private func addTimings(of easy: CurlEasy) {
        hop.tunnelStatus = easy.tunnelStatus
        let connected = easy.microseconds(CURLINFO_CONNECT_TIME_T)
        let secured = easy.microseconds(CURLINFO_APPCONNECT_TIME_T)
        timings.isReused = easy.connectionCount == 0
        if !timings.isReused {
            timings.connect += max(.zero, connected - easy.microseconds(CURLINFO_NAMELOOKUP_TIME_T))
            if secured > .zero { timings.tls += max(.zero, secured - connected) }
        }
        let sent = easy.microseconds(CURLINFO_PRETRANSFER_TIME_T)
        timings.firstByte += max(.zero, easy.microseconds(CURLINFO_STARTTRANSFER_TIME_T) - sent)
        load.progress.record(timings)
    }
}
