import CCurlShim
import HTTPTypes
import Memory

/// One request of a transfer, and the header of its answer: all that begins anew with each hop and each retry.
struct TransferHop {
    /// A refused answer's body up to this size is read to its end, so that the connection can be used again.
    static let maximumDrainedBytes = 16 << 10

    /// The addresses that connections may be opened to.
    var judgedAddresses: [IPAddress] = []
    /// Judges the peer of a connection, which may have been opened for an earlier transfer.
    var isAllowed: (IPAddress) -> Bool = { _ in false }
    /// Sockets that were opened for this hop.
    var sockets: [CInt] = []
    /// The state of the connection before the request was sent; nil before there is one.
    var connection: KeptSockets.Connection?
    /// Requests that libcurl has sent.
    var requests = 0
    var reader = ResponseHeadReader()
    var head: ResponseHead?
    var verdict: ResponseHead.Verdict?
    private var drainedBytes = 0
    /// The body of a refusal, if it is kept: stores of objects say in it what was wrong.
    private var refusal: [UInt8] = []

    /// Whether the bytes that come belong to the source.
    var takesBody: Bool { verdict == .accept || verdict == .resume }

    /// Counts bytes of an answer that is no source; false if they are too many.
    @unsafe
    mutating func drain(_ bytes: UnsafeRawBufferPointer, keeping isKept: Bool) -> Bool {
        drainedBytes += bytes.count
        guard drainedBytes <= Self.maximumDrainedBytes else { return false }
        if isKept { unsafe refusal.append(contentsOf: bytes) }
        return true
    }

    /// The error of a refused answer, with the store's error code if its body has one.
    func explained(_ error: DownloadError) -> DownloadError {
        guard case .status(let status) = error, let code = LentKey.errorCode(in: refusal) else { return error }
        return .storeRefusal(status, code: code)
    }
}

/// The body of a transfer, which may come in several parts.
struct TransferBody: ~Copyable {
    /// The header of the answer that began it.
    private(set) var answer: (head: ResponseHead, requestedAt: HTTPDate)?
    /// The missing part, if the body was cut short.
    private(set) var partial: PartialBody?
    /// Bytes so far.
    private(set) var count = 0
    private var sink: BodySink?
    private var resumptions = 0

    /// Takes the body of an answer, in place of all that came before.
    mutating func begin(_ head: ResponseHead, requestedAt: HTTPDate, isRedirected: Bool) {
        sink = BodySink(head: head, isRedirected: isRedirected)
        (answer, count) = ((head, requestedAt), 0)
    }

    @unsafe
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        unsafe sink?.append(bytes)
        count += bytes.count
    }

    /// The next request asks for all of the source.
    mutating func startOver() { partial = nil }

    /// Whether a cut body is worth going on with; the next hop then asks for its rest.
    mutating func prepareResumption() -> Bool {
        guard resumptions < PartialBody.maximumResumptions, let answer,
            let rest = PartialBody(of: answer.head, receivedBytes: count)
        else { return false }
        resumptions += 1
        partial = rest
        return true
    }

    /// Ends the body and gives its validator.
    mutating func finish() -> (bytes: SharedBytes, validator: SourceValidator)? { sink.take()?.finish() }
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
