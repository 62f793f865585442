import CCurlShim
import HTTPTypes
import Memory

/// One request of a transfer; its state is reset for each redirect and retry.
struct TransferHop {
    /// Rejected responses of up to this many bytes are read completely, so that the connection can be reused.
    static let maximumDrainedBytes = 16 << 10

    /// Body bytes per turn; otherwise libcurl would read as long as bytes arrive.
    static let maximumTurnBytes = 192 << 10

    /// The addresses of the URL's host; nil until it is resolved.
    var hostAddresses: [IPAddress]?
    var proxyAddresses: [IPAddress]?
    var checkedAddresses: [IPAddress] = []
    /// The status of the proxy's response to CONNECT; 0 if there was none.
    var tunnelStatus = 0
    /// Checks the peer of a reused connection.
    var isAllowed: (IPAddress) -> Bool = { _ in false }
    var sockets: [CInt] = []
    /// The state of the connection before the request was sent; nil until it is connected.
    var connection: ReusableSockets.Connection?
    var requests = 0
    var reader = ResponseHeadReader()
    var head: ResponseHead?
    var decision: ResponseHead.Decision?
    /// Whether receiving is paused until the next turn.
    private(set) var isHeld = false
    private var turnBytes = 0
    private var drainedBytes = 0
    private var rejection: [UInt8] = []

    /// Forgets the challenge before libcurl sends the request again with credentials.
    mutating func beginAnswer() {
        reader = ResponseHeadReader()
        head = nil
        decision = nil
        drainedBytes = 0
        rejection.removeAll()
    }

    /// Counts the bytes; returns true when they end the turn, once per turn.
    mutating func endsTurn(with count: Int) -> Bool {
        turnBytes += count
        guard turnBytes >= Self.maximumTurnBytes, !isHeld else { return false }
        isHeld = true
        return true
    }

    mutating func beginTurn() {
        isHeld = false
        turnBytes = 0
    }

    var takesBody: Bool { decision == .accept || decision == .resume }

    /// Reads bytes of a rejected response; returns false if there are too many.
    @unsafe
    mutating func drain(_ bytes: UnsafeRawBufferPointer, keeping isKept: Bool) -> Bool {
        drainedBytes += bytes.count
        guard drainedBytes <= Self.maximumDrainedBytes else { return false }
        if isKept { unsafe rejection.append(contentsOf: bytes) }
        return true
    }

    /// Adds the origin's challenge to an error that denies the client access.
    func denial(_ error: DownloadError) -> DownloadError {
        guard case .status(let status) = error, [401, 403].contains(status) else { return error }
        return .accessDenied(status, challenge: status == 401 ? head?.fields[.wwwAuthenticate] : nil)
    }

    /// Adds the object store's error code from the body of the rejected response.
    func explained(_ error: DownloadError) -> DownloadError {
        guard case .status(let status) = error, let code = TemporaryKey.errorCode(in: rejection) else { return error }
        return .storeRejection(status, code: code)
    }
}

struct TransferBody: ~Copyable {
    private(set) var answer: (head: ResponseHead, requestedAt: HTTPDate)?
    /// The received part of a truncated body, if the rest can be requested.
    private(set) var partial: PartialBody?
    private(set) var count = 0
    private var sink: BodySink?
    private var resumptions = 0

    /// Begins the body of a response, and drops earlier bytes.
    mutating func begin(_ head: ResponseHead, requestedAt: HTTPDate, isRedirected: Bool) {
        sink = BodySink(head: head, isRedirected: isRedirected)
        answer = (head, requestedAt)
        count = 0
    }

    @unsafe
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        unsafe sink?.append(bytes)
        count += bytes.count
    }

    mutating func startOver() { partial = nil }

    mutating func prepareResumption() -> Bool {
        guard resumptions < PartialBody.maximumResumptions, let answer,
            let rest = PartialBody(of: answer.head, receivedBytes: count)
        else { return false }
        resumptions += 1
        partial = rest
        return true
    }

    mutating func finish() -> (bytes: SharedBytes, validator: SourceValidator)? { sink.take()?.finish() }
}

struct RedirectTrail {
    private(set) var current: SourceURL
    private var visited: Set<SourceURL>
    private let maximum: Int

    init(start: SourceURL, maximum: Int) {
        current = start
        visited = [start]
        self.maximum = maximum
    }

    /// Continues with the target of a redirect; the caller checks its address like the first URL's.
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
