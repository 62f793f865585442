import CCurlShim
import HTTPTypes
import Memory

/// One request of a transfer; its state is reset for each redirect and retry.
struct TransferHop {
    /// Rejected responses of up to this many bytes are read completely, so that the connection can be reused.
    static let maximumDrainedBytes = 16 << 10

    /// The number of body bytes after which receiving pauses; otherwise libcurl would read as long as bytes arrive.
    static let maximumBytesBetweenPauses = 192 << 10

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
    /// Whether receiving is paused until the loop has served other transfers.
    private(set) var isPaused = false
    private var bytesSincePause = 0
    private var drainedBytes = 0
    private var rejection: [UInt8] = []

    /// Forgets the challenge before libcurl sends the request again with credentials.
    mutating func beginAuthentication() {
        reader = ResponseHeadReader()
        head = nil
        decision = nil
        drainedBytes = 0
        rejection.removeAll()
    }

    /// Counts the bytes; returns whether to pause now.
    mutating func pauses(after count: Int) -> Bool {
        bytesSincePause += count
        guard bytesSincePause >= Self.maximumBytesBetweenPauses, !isPaused else { return false }
        isPaused = true
        return true
    }

    mutating func resume() {
        isPaused = false
        bytesSincePause = 0
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
