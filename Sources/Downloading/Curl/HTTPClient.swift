import CCurl
import CCurlShim
import Coordination
package import HTTPTypes
import Memory

/// Sends single requests to servers that the operator has named, and waits for their answers: collectors, a running
/// service.
///
/// Sources are never fetched with it: it judges no addresses.
package enum HTTPClient {
    /// Why there is no answer.
    package struct Failure: Error, CustomStringConvertible {
        /// The error in libcurl's words.
        package let description: String
        /// Whether the time was over.
        package var isTimeOut = false
    }

    /// An answer with its whole body.
    package struct Answer: Sendable {
        package let status: Int
        package let body: [UInt8]
        /// How long the server wants to be left alone (RFC 9110 section 10.2.3); nil if it does not say.
        package let retryAfter: Duration?
    }

    /// Longest body of an answer, in bytes.
    package static let maximumBodyLength = 64 << 20

    /// Sends a request on the calling thread, which waits for the answer; redirects are not followed.
    ///
    /// - Parameters:
    ///   - request: The method, the fields and the body; its target does not count.
    ///   - url: An absolute `http` or `https` URL.
    ///   - timeLimit: Time for all of it.
    ///   - authorities: A file of certificate authorities in PEM instead of the system's.
    ///   - mostBodyBytes: Longest body of the answer; nil if it is not wanted, and then the answer has an empty one,
    ///     and a long one ends the transfer.
    package static func blockingSend(
        _ request: HTTPRequest, to url: String, timeLimit: Duration, authorities: String? = nil,
        mostBodyBytes: Int? = maximumBodyLength
    ) throws(Failure) -> Answer {
        guard CurlMulti.isInitialised, let easy = unsafe curl_easy_init() else {
            throw Failure(description: "no memory")
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
        if let authorities { set(CURLOPT_CAINFO, authorities) }
        var lines: UnsafeMutablePointer<curl_slist>?
        // An empty value leaves libcurl's own field out.
        let fields = request.headerFields.map { "\($0.name): \($0.value)" } + ["Expect:"]
        for field in fields { unsafe lines = curl_slist_append(lines, field) ?? lines }
        defer { unsafe curl_slist_free_all(lines) }
        unsafe CCurlShim_set_list(easy, CURLOPT_HTTPHEADER, lines)
        if request.method == .head { set(CURLOPT_NOBODY, 1) }
        set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        let received = ReceivedBytes(atMost: mostBodyBytes)
        unsafe CCurlShim_set_body_callback(easy, takeBody, Unmanaged.passUnretained(received).toOpaque())
        let code = unsafe (request.body ?? SharedBytes([])).withUnsafeBytes { bytes in
            if let start = bytes.baseAddress, bytes.count > 0 {
                unsafe CCurlShim_set_long(easy, CURLOPT_POSTFIELDSIZE, bytes.count)
                // libcurl only reads it.
                unsafe CCurlShim_set_pointer(easy, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(mutating: start))
            }
            return unsafe curl_easy_perform(easy)
        }
        withExtendedLifetime(received) {}
        guard code == CURLE_OK || code == CURLE_WRITE_ERROR && mostBodyBytes == nil else {
            throw unsafe Failure(
                description: String(cString: curl_easy_strerror(code)), isTimeOut: code == CURLE_OPERATION_TIMEDOUT)
        }
        let wish = unsafe CCurlShim_get_offset(easy, CURLINFO_RETRY_AFTER)
        return Answer(
            status: unsafe CCurlShim_get_long(easy, CURLINFO_RESPONSE_CODE), body: received.bytes,
            retryAfter: wish > 0 ? .seconds(wish) : nil)
    }
}

/// The body of an answer while it arrives; used by one thread.
private final class ReceivedBytes {
    var bytes: [UInt8] = []
    /// Whether the body is wanted.
    let isKept: Bool
    /// Bytes that may still come.
    var left: Int
    /// Most bytes that are read and dropped: a server that sends without end costs no more.
    private static let mostDropped = 64 << 10

    init(atMost maximum: Int?) { (isKept, left) = (maximum != nil, maximum ?? Self.mostDropped) }
}

/// libcurl's call with a part of a body; fewer bytes than it was given end the transfer.
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
    /// Sends a request on a thread of its own, because the server may take its time; redirects are not followed, and
    /// the answer's body is not kept.
    ///
    /// - Parameters:
    ///   - request: The method, the fields and the body; its target does not count.
    ///   - url: An absolute `http` or `https` URL.
    ///   - timeLimit: Time for all of it.
    ///   - authorities: A file of certificate authorities in PEM instead of the system's.
    ///   - thread: The thread's name.
    package static func status(
        of request: HTTPRequest, to url: String, timeLimit: Duration, authorities: String?, thread name: String
    ) async -> Result<Int, Failure> {
        let result = await WorkThread.value(named: name) {
            Result { () throws(Failure) in
                try blockingSend(request, to: url, timeLimit: timeLimit, authorities: authorities, mostBodyBytes: nil)
                    .status
            }
        }
        return result ?? .failure(Failure(description: "no thread"))
    }

    /// Sends a request to a service that lends keys, whose answers are short and soon.
    static func blockingCall(
        _ request: HTTPRequest, _ url: String, authorities: String?
    ) throws(KeyFailure) -> (status: Int, body: [UInt8]) {
        do throws(Failure) {
            let answer = try blockingSend(
                request, to: url, timeLimit: .seconds(5), authorities: authorities, mostBodyBytes: 64 << 10)
            return (answer.status, answer.body)
        } catch {
            throw KeyFailure(detail: error.description, isLasting: false)
        }
    }
}
