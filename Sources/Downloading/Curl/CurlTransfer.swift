import CCurl
import CCurlShim
import Coordination
import HTTPTypes
import Text

/// One load with all its redirects, from the first look-up to its end.
///
/// Confined to the thread `transfers`.
final class CurlTransfer {
    /// A refused answer's body up to this size is read to its end, so that the connection can be used again.
    private static let maximumDrainedBytes = 16 << 10

    /// The result of a hop.
    enum Outcome {
        case success(TransferAnswer)
        case redirect(String)
        /// Ask the same URL again, for the rest or from zero.
        case again
        /// Once more, after a pause.
        case retry
        case failure(DownloadError)
    }

    private static let pauseBeforeRetry = Duration.milliseconds(100)

    let load: CurlInbox.Load
    /// The handle, while it is in the multi handle.
    var easy: CurlEasy?
    /// The addresses that this hop may open connections to.
    private(set) var judgedAddresses: [IPAddress] = []
    /// Judges the peer of a connection, which may have been opened for an earlier transfer.
    private var isAllowed: (IPAddress) -> Bool = { _ in false }
    var clock: TransferClock
    var timings = TransferTimings()
    /// When the look-up of the current hop's name began.
    var lookUpBegan = Duration.zero

    private let maximumBytes: Int
    private let timekeeper: any Timekeeper
    private let selectingFields: SelectingFields
    private let startedAt: Duration
    private var trail: RedirectTrail
    private var reader = ResponseHeadReader()
    private var requestedAt: HTTPDate
    private var head: ResponseHead?
    /// The header of the answer whose body the sink takes.
    private var body: (head: ResponseHead, requestedAt: HTTPDate)?
    /// The missing part, if the body was cut short.
    private var partial: PartialBody?
    private var resumptions = 0
    /// Directives of redirects on the way that forbid reuse; they also hold for the target.
    private var restrictions: Set<ExactText> = []
    private var verdict: ResponseHead.Verdict?
    private var sink: BodySink?
    private var drainedBytes = 0
    private var failure: DownloadError?
    /// Requests that this attempt at the hop has sent.
    private var requests = 0
    private var hasRetried = false
    private var hasLeftOrigin = false
    private let mayRetry: () -> Bool
    private var pauseEnd: Duration?

    init(
        _ load: CurlInbox.Load, configuration: DownloadConfiguration, selectingFields: SelectingFields, now: Duration,
        timekeeper: any Timekeeper, mayRetry: @escaping () -> Bool = { false }
    ) {
        self.load = load
        self.timekeeper = timekeeper
        self.mayRetry = mayRetry
        self.selectingFields = selectingFields
        requestedAt = HTTPDate(secondsSince1970: timekeeper.secondsSince1970)
        maximumBytes = min(configuration.maximumBytes, load.request.maximumBytes ?? .max)
        clock = TransferClock(configuration, now: now)
        startedAt = now
        trail = RedirectTrail(start: load.request.identity.target, maximum: configuration.maximumRedirects)
    }

    /// The URL of the current hop.
    var url: SourceURL { trail.current }

    /// Whether the current hop is to the named origin, and no redirect has led elsewhere before.
    var isAtOwnOrigin: Bool { !hasLeftOrigin && load.request.identity.originName != nil }

    /// The key that signs the current hop's request; nil if it is not signed.
    var signingKey: OriginCredentials.AccessKey? { isAtOwnOrigin ? load.key : nil }

    /// Lets the current hop open connections to these addresses only, and use kept ones whose peer `isAllowed`.
    func beginConnecting(to addresses: [IPAddress], isAllowed: @escaping (IPAddress) -> Bool) {
        judgedAddresses = addresses.map(\.unmapped)
        self.isAllowed = isAllowed
    }

    /// The fields of the current hop's request beside those of all requests.
    var extraFields: HTTPFields {
        switch question {
        case .whole, .put: [:]
        case .ifChanged: load.request.condition?.fields ?? [:]
        case .rest(let partial): partial.fields
        }
    }

    private var question: ResponseHead.Question {
        if load.request.upload != nil { return .put }
        if let partial { return .rest(partial) }
        return load.request.condition?.url == namedURL ? .ifChanged : .whole
    }

    /// The current hop's URL as part of the identity: the first URL is without the ignored parameters.
    private var namedURL: String {
        let identity = load.request.identity
        return url == identity.target ? identity.url.canonical : url.canonical
    }

    /// Goes on to a redirect's target.
    func beginHop(to location: String, at now: Duration) throws(DownloadError) {
        let before = url.origin
        try trail.follow(location)
        if url.origin != before { hasLeftOrigin = true }
        if let head { restrictions.formUnion(head.reuseRestrictions) }
        partial = nil
        beginHop(at: now)
    }

    /// Asks the current URL, for the first time or again.
    func beginHop(at now: Duration) {
        clock.beginHop(at: now)
        judgedAddresses = []
        requests = 0
        reader = ResponseHeadReader()
        head = nil
        verdict = nil
        drainedBytes = 0
    }

    /// Pauses before the hop is begun again; the time for connecting goes on.
    func beginRetry(at now: Duration) {
        judgedAddresses = []
        requests = 0
        pauseEnd = now + Self.pauseBeforeRetry
    }

    /// Whether the pause before a retry is over now.
    func endPause(at now: Duration) -> Bool {
        guard let end = pauseEnd, now >= end else { return false }
        pauseEnd = nil
        return true
    }

    /// When the time limits are to be checked next.
    var nextCheck: Duration { min(clock.nextCheck, pauseEnd ?? clock.nextCheck) }

    /// Called by libcurl for every line of a header and of trailers; false ends the transfer.
    @unsafe
    func readHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        clock.answered(at: timekeeper.now)
        load.progress.beginAnswer()
        do throws(DownloadError) {
            let line = unsafe Span<UInt8>(_unsafeElements: line.bindMemory(to: UInt8.self))
            guard let head = try reader.read(line) else { return true }
            self.head = head
            let verdict = head.verdict(maximumBytes: maximumBytes, on: question, needsBody: load.request.needsBody)
            self.verdict = verdict
            switch verdict {
            case .accept:
                load.progress.begin(expecting: head.contentLength)
                sink = BodySink(
                    head: head, isRedirected: namedURL != load.request.identity.url.canonical)
                body = (head, requestedAt)
                return true
            case .resume: return true
            case .notModified, .restart, .redirect, .refuse, .enough:
                return head.contentLength ?? 0 <= Self.maximumDrainedBytes
            }
        } catch {
            failure = error
            return false
        }
    }

    /// Called by libcurl for the bytes of a body; false ends the transfer.
    @unsafe
    func readBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        clock.received(bytes.count)
        guard verdict == .accept || verdict == .resume else {
            drainedBytes += bytes.count
            return drainedBytes <= Self.maximumDrainedBytes
        }
        guard (sink?.count ?? 0) + bytes.count <= maximumBytes else {
            failure = .tooLarge
            return false
        }
        do throws(DownloadError) {
            try load.progress.receive(bytes.count)
        } catch {
            failure = error
            return false
        }
        unsafe sink?.append(bytes)
        return true
    }

    /// Called by libcurl before each connection: opens a socket to a judged address, refuses every other.
    @unsafe
    func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        guard let target = unsafe IPAddress(CCurlShim_socket_address(address)),
            judgedAddresses.contains(target.unmapped)
        else {
            failure = .sourceNotAllowed("addresses: a connection to one that was not judged")
            return -1
        }
        return unsafe socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
    }

    /// Called by libcurl when a connection is there, new or used before; false ends the transfer.
    func willSendRequest(to remote: String, port: Int) -> Bool {
        clock.connected(at: timekeeper.now)
        requestedAt = HTTPDate(secondsSince1970: timekeeper.secondsSince1970)
        guard let address = IPAddress(remote), isAllowed(address), port == url.port else {
            failure = .sourceNotAllowed("addresses: connected to \(remote), port \(port), which was not judged")
            return false
        }
        // libcurl itself asks again when a kept connection turns out to be dead: within our count and budget.
        requests += 1
        guard requests == 1 || takeRetry() else {
            failure = .unreachable("a kept connection was dead")
            return false
        }
        return true
    }

    /// The result of a hop that libcurl ended with `code`; nil stands for our own end by a time limit.
    func outcome(_ code: CURLcode?) -> Outcome {
        if let failure { return .failure(failure) }
        switch verdict {
        case .redirect(let location): return .redirect(location)
        case .refuse(let error):
            noteRefusal()
            return .failure(error)
        case .enough: return .success(.head)
        case .restart:
            partial = nil
            return .again
        case .notModified:
            timings.total = timekeeper.now - startedAt
            return .success(
                .notModified(
                    SourceConfirmation(
                        headerFields: restricted(head?.fields ?? [:]), requestedAt: requestedAt, receivedAt: wallTime,
                        timings: timings)))
        case .accept, .resume, nil: break
        }
        guard let code else { return .failure(.timedOut) }
        if code == CURLE_COULDNT_CONNECT, takeRetry() { return .retry }
        guard code == CURLE_OK else {
            if prepareResumption(after: code) { return .again }
            return .failure(DownloadError(code, at: stage))
        }
        guard let body, let sink = sink.take() else {
            return .failure(.unreachable("closed before the end of the header"))
        }
        guard sink.count > 0 else { return .failure(.emptyBody) }
        let (bytes, validator) = sink.finish()
        timings.total = timekeeper.now - startedAt
        let fields = restricted(body.head.fields)
        let head = SourceHead(
            identity: load.request.identity, url: namedURL, status: body.head.status, validator: validator,
            headerFields: fields,
            selectingFields: SourceHead.selectingFields(fields, of: selectingFields.fields(for: load.request.identity)),
            requestedAt: body.requestedAt, receivedAt: wallTime)
        return .success(.source(Source(head: head, bytes: bytes, timings: timings)))
    }

    private var stage: DownloadError.Stage { body != nil ? .receiving : requests > 0 ? .waiting : .connecting }

    private func restricted(_ fields: HTTPFields) -> HTTPFields {
        var fields = fields
        for directive in restrictions.sorted() { fields.append(.cacheControl, directive.string) }
        return fields
    }

    private var wallTime: HTTPDate { HTTPDate(secondsSince1970: timekeeper.secondsSince1970) }

    /// Whether a cut body is worth going on with; the next hop then asks for its rest.
    private func prepareResumption(after code: CURLcode) -> Bool {
        guard code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR, resumptions < PartialBody.maximumResumptions,
            verdict == .accept || verdict == .resume, let body,
            let partial = PartialBody(of: body.head, receivedBytes: sink?.count ?? 0)
        else { return false }
        resumptions += 1
        self.partial = partial
        return true
    }

    /// The origin's directives for its refusal bound how long it is remembered.
    private func noteRefusal() {
        guard let head, head.fields.contains(.cacheControl) || head.fields.contains(.expires) else { return }
        let freshness = SourceFreshness(
            status: head.status, headerFields: head.fields, requestedAt: requestedAt, receivedAt: wallTime)
        let seconds =
            freshness.storability == .shared ? max(0, freshness.remainingLifetime(at: wallTime.secondsSince1970)) : 0
        load.progress.refuse(reusableFor: seconds)
    }

    private func takeRetry() -> Bool {
        guard !hasRetried, mayRetry() else { return false }
        hasRetried = true
        return true
    }

    /// Adds libcurl's timings of a hop.
    func addTimings(of easy: CurlEasy) {
        let connected = easy.microseconds(CURLINFO_CONNECT_TIME_T)
        let secured = easy.microseconds(CURLINFO_APPCONNECT_TIME_T)
        timings.isReused = easy.connectionCount == 0
        if !timings.isReused {
            timings.connect += max(.zero, connected - easy.microseconds(CURLINFO_NAMELOOKUP_TIME_T))
            if secured > .zero { timings.tls += max(.zero, secured - connected) }
        }
        let sent = easy.microseconds(CURLINFO_PRETRANSFER_TIME_T)
        timings.firstByte += max(.zero, easy.microseconds(CURLINFO_STARTTRANSFER_TIME_T) - sent)
    }
}

/// The URLs a transfer has been sent through, so that it neither loops nor goes on forever.
struct RedirectTrail {
    /// The URL of the current hop.
    private(set) var current: SourceURL
    private var visited: Set<SourceURL>
    private let maximum: Int

    init(start: SourceURL, maximum: Int) {
        current = start
        visited = [start]
        self.maximum = maximum
    }

    /// Goes on to the target of a redirect; the caller judges its address like a first URL's.
    mutating func follow(_ location: String) throws(DownloadError) {
        let target: SourceURL
        do throws(SourceURLError) {
            target = try current.redirected(to: location)
        } catch {
            throw .sourceNotAllowed("redirects: \(current.origin) redirects to what is not fetched; \(error)")
        }
        guard current.scheme != "https" || target.scheme == "https" else {
            throw .sourceNotAllowed("redirects: \(current.origin) redirects from https to \(target.origin)")
        }
        guard visited.count <= maximum, visited.insert(target).inserted else { throw .tooManyRedirects }
        current = target
    }
}
