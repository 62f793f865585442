import CCurl
import CCurlShim

/// A multi handle of libcurl; only ``wakeUp()`` may be called outside the `transfers` thread.
@safe
final class CurlMulti: @unchecked Sendable {
    /// Initializes libcurl on first use; false if that failed.
    static let isInitialized: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    private let handle: UnsafeMutableRawPointer

    init?() {
        guard Self.isInitialized, let handle = unsafe curl_multi_init() else { return nil }
        unsafe self.handle = handle
        unsafe CCurlShim_multi_set_long(handle, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
        unsafe CCurlShim_multi_set_long(handle, CURLMOPT_MAXCONNECTS, CurlLoader.maximumIdleConnections)
    }

    deinit { unsafe curl_multi_cleanup(handle) }

    func wakeUp() { _ = unsafe curl_multi_wakeup(handle) }

    func add(_ easy: CurlEasy) -> Bool { unsafe curl_multi_add_handle(handle, easy.handle) == CURLM_OK }

    func remove(_ easy: CurlEasy) { _ = unsafe curl_multi_remove_handle(handle, easy.handle) }

    func perform() {
        var running: Int32 = 0
        _ = unsafe curl_multi_perform(handle, &running)
    }

    func blockingPoll(also descriptors: inout [curl_waitfd], atMost duration: Duration) {
        let milliseconds =
            duration <= .zero
            ? 0
            : Int32(max(0, min(duration.components.seconds, 60) * 1000))
                + Int32(duration.components.attoseconds / 1_000_000_000_000_000) + 1
        let count = UInt32(descriptors.count)
        _ = unsafe descriptors.withUnsafeMutableBufferPointer { buffer in
            unsafe curl_multi_poll(handle, buffer.baseAddress, count, milliseconds, nil)
        }
    }

    func nextFinished() -> (transfer: CurlTransfer, code: CURLcode)? {
        var code = CURLE_OK
        guard let easy = unsafe CCurlShim_next_finished(handle, &code),
            let context = unsafe CCurlShim_get_private(easy)
        else { return nil }
        // Unretained: the loop owns the transfer.
        return unsafe (Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue(), code)
    }
}
