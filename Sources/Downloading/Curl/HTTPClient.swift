import CCurl
import CCurlShim
import Coordination
package import HTTPTypes
import Memory

/// Sends single requests to servers from the settings; does not check addresses, so do not use it for sources.
package enum HTTPClient {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        package var isTimeOut = false
    }

    package struct Response: Sendable {
        package let status: Int
        package let body: [UInt8]
        /// The value of `Retry-After` (RFC 9110 section 10.2.3); nil if there is none.
        package let retryAfter: Duration?
    }

    package static let maximumBodyLength = 64 << 20

    /// Sends a request and blocks until the response; does not follow redirects.
    ///
    /// - Parameters:
    ///   - request: The request to send; its target is ignored.
    ///   - socketPath: The Unix socket to connect to; nil for TCP.
    ///   - authorities: A PEM file of certificate authorities; nil uses the system's.
    ///   - maximumBodyBytes: Nil discards the body; a long body ends the transfer.
    package static func blockingSend(
        _ request: HTTPRequest, to url: String, at socketPath: String? = nil, timeLimit: Duration,
        authorities: String? = nil, maximumBodyBytes: Int? = maximumBodyLength
    ) throws(Failure) -> Response {
        guard CurlMulti.isInitialized, let easy = unsafe curl_easy_init() else {
            throw Failure(description: "libcurl is out of memory")
        }
        defer { unsafe curl_easy_cleanup(easy) }
        func set(_ option: CURLoption, _ value: Int) { unsafe CCurlShim_set_long(easy, option, value) }
        func set(_ option: CURLoption, _ value: String) { unsafe CCurlShim_set_string(easy, option, value) }
        set(CURLOPT_URL, url)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_PROXY, "")
        set(CURLOPT_NOPROXY, "*")
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_TIMEOUT_MS, max(1, Int(timeLimit.milliseconds)))
        if let socketPath { set(CURLOPT_UNIX_SOCKET_PATH, socketPath) }
        if let authorities { set(CURLOPT_CAINFO, authorities) }
        var lines: UnsafeMutablePointer<curl_slist>?
        // `Expect:` without a value removes libcurl's own field.
        let fields = request.headerFields.map { "\($0.name): \($0.value)" } + ["Expect:"]
        for field in fields { unsafe lines = curl_slist_append(lines, field) ?? lines }
        defer { unsafe curl_slist_free_all(lines) }
        unsafe CCurlShim_set_list(easy, CURLOPT_HTTPHEADER, lines)
        if request.method == .head { set(CURLOPT_NOBODY, 1) }
        set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        let received = ReceivedBytes(atMost: maximumBodyBytes)
        unsafe CCurlShim_set_body_callback(easy, takeBody, Unmanaged.passUnretained(received).toOpaque())
        let code = unsafe (request.body ?? SharedBytes([])).withUnsafeBytes { bytes in
            if let start = bytes.baseAddress, bytes.count > 0 {
                unsafe CCurlShim_set_long(easy, CURLOPT_POSTFIELDSIZE, bytes.count)
                // libcurl does not write to it.
                unsafe CCurlShim_set_pointer(easy, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(mutating: start))
            }
            return unsafe curl_easy_perform(easy)
        }
        withExtendedLifetime(received) {}
        guard code == CURLE_OK || code == CURLE_WRITE_ERROR && maximumBodyBytes == nil else {
            throw unsafe Failure(
                description: String(cString: curl_easy_strerror(code)), isTimeOut: code == CURLE_OPERATION_TIMEDOUT)
        }
        let seconds = unsafe CCurlShim_get_offset(easy, CURLINFO_RETRY_AFTER)
        return Response(
            status: unsafe CCurlShim_get_long(easy, CURLINFO_RESPONSE_CODE), body: received.bytes,
            retryAfter: seconds > 0 ? .seconds(seconds) : nil)
    }
}

private final class ReceivedBytes {
    var bytes: [UInt8] = []
    let isKept: Bool
    var left: Int
    /// The maximum number of discarded bytes, because a server may send without end.
    private static let maximumDropped = 64 << 10

    init(atMost maximum: Int?) {
        isKept = maximum != nil
        left = maximum ?? Self.maximumDropped
    }
}

/// libcurl's callback for a piece of a body; returning a smaller number ends the transfer.
private let takeBody: CCurlShim_data_callback = { start, size, count, context in
    guard let start = unsafe start, let context = unsafe context else { return 0 }
    let received = unsafe Unmanaged<ReceivedBytes>.fromOpaque(context).takeUnretainedValue()
    let length = Int(size * count)
    received.left -= length
    guard received.left >= 0 else { return 0 }
    guard received.isKept else { return length }
    unsafe received.bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: length))
    return length
}

extension HTTPClient {
    /// Sends a request on a thread, because the server may be slow; follows no redirects and discards the body.
    ///
    /// - Parameters:
    ///   - request: The request to send; its target is ignored.
    ///   - authorities: A PEM file of certificate authorities; nil uses the system's.
    package static func status(
        of request: HTTPRequest, to url: String, timeLimit: Duration, authorities: String?, thread name: String
    ) async -> Result<Int, Failure> {
        let result = await WorkThread.value(named: name) {
            Result { () throws(Failure) in
                try blockingSend(
                    request, to: url, timeLimit: timeLimit, authorities: authorities, maximumBodyBytes: nil
                )
                .status
            }
        }
        return result ?? .failure(Failure(description: "no thread could be started"))
    }

    /// Sends a request to a service for temporary keys, whose responses are short and fast.
    static func blockingCall(
        _ request: HTTPRequest, to url: String, authorities: String?
    ) throws(KeyFailure) -> (status: Int, body: [UInt8]) {
        do throws(Failure) {
            let response = try blockingSend(
                request, to: url, timeLimit: .seconds(5), authorities: authorities, maximumBodyBytes: 64 << 10)
            return (response.status, response.body)
        } catch {
            throw KeyFailure(detail: error.description, isPermanent: false)
        }
    }
}
