import CCurl
import CCurlShim
import Coordination
import HTTPTypes
import Memory

@safe
final class CurlEasy {
    let handle: UnsafeMutableRawPointer
    unowned let profile: CurlProfile
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var resolved: UnsafeMutablePointer<curl_slist>?
    private var tunneled: UnsafeMutablePointer<curl_slist>?

    /// Creates a handle with the options that are the same for all transfers.
    init?(_ profile: CurlProfile) {
        guard let handle = unsafe curl_easy_init() else { return nil }
        unsafe self.handle = handle
        self.profile = profile
        set(CURLOPT_PROTOCOLS_STR, to: "http,https")
        set(CURLOPT_HTTPPROXYTUNNEL, to: 1)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: 1)
        set(CURLOPT_NOSIGNAL, to: 1)
        set(CURLOPT_QUICK_EXIT, to: 1)
        set(CURLOPT_FOLLOWLOCATION, to: 0)
        set(CURLOPT_PATH_AS_IS, to: 1)
        set(CURLOPT_HTTP_VERSION, to: Int(CURL_HTTP_VERSION_1_1))
        set(CURLOPT_SSLVERSION, to: Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_SSL_VERIFYPEER, to: 1)
        set(CURLOPT_SSL_VERIFYHOST, to: 2)
        set(CURLOPT_BUFFERSIZE, to: 192 << 10)
        // Without a certificate folder, libcurl caches the parsed file between handshakes.
        unsafe CCurlShim_set_string(handle, CURLOPT_CAPATH, nil)
        if let file = profile.rules.configuration.certificateAuthorities { set(CURLOPT_CAINFO, to: file) }
        guard unsafe profile.apply(to: handle) else { return nil }
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe curl_slist_free_all(headers)
        unsafe curl_slist_free_all(resolved)
        unsafe curl_slist_free_all(tunneled)
    }

    /// Returns false if libcurl rejects an option; the transfer must live while it is in the multi handle.
    func prepare(_ transfer: CurlTransfer, connectTimeout: Duration) -> Bool {
        let url = transfer.url
        setRoute(of: transfer)
        let forwarded = transfer.clientFields
        var lines = profile.lines(besides: forwarded) + transfer.extraFields.map { "\($0.name): \($0.value)" }
        if profile.propagatesTraces, let traceparent = transfer.load.request.traceparent {
            lines.append("\(HTTPField.Name.traceparent): \(traceparent)")
        }
        if let upload = transfer.load.request.upload {
            lines.removeAll { line in upload.fields.contains { line.hasPrefix($0.name.rawName + ":") } }
            lines += upload.fields.map { "\($0.name): \($0.value)" }
        }
        if let signature = transfer.signingKey.flatMap(profile.signature) {
            if let token = signature.key.sessionToken {
                lines.append("\(HTTPField.Name.xAmzSecurityToken): \(token.text)")
            }
            let method = transfer.load.request.upload?.method ?? .get
            lines += signature.lines(signing: lines, method: method.rawValue, url: url, at: transfer.wallTime)
        }
        guard setFields(lines, forwarded: forwarded), setBody(transfer.load.request.upload) else { return false }
        set(CURLOPT_CONNECTTIMEOUT_MS, to: max(1, Int(connectTimeout.milliseconds)))
        set(CURLOPT_URL, to: url.canonical)
        return unsafe setTransferCallbacks(of: handle, for: transfer) == CURLE_OK
    }

    /// Sets the addresses that libcurl connects to: the host's, or the proxy's and the host's behind it.
    private func setRoute(of transfer: CurlTransfer) {
        let url = transfer.url
        unsafe CCurlShim_set_list(handle, CURLOPT_RESOLVE, nil)
        unsafe CCurlShim_set_list(handle, CURLOPT_CONNECT_TO, nil)
        unsafe curl_slist_free_all(resolved)
        unsafe curl_slist_free_all(tunneled)
        unsafe (resolved, tunneled) = (nil, nil)
        // An empty string disables proxies from environment variables.
        set(CURLOPT_PROXY, to: transfer.proxy?.origin.description ?? "")
        set(CURLOPT_NOPROXY, to: transfer.proxy == nil ? "*" : "")
        if let target = transfer.tunnelTarget, url.address == nil {
            unsafe tunneled = curl_slist_append(nil, "\(url.host):\(url.port):\(Self.text(of: target)):\(url.port)")
            unsafe CCurlShim_set_list(handle, CURLOPT_CONNECT_TO, tunneled)
        }
        let peer = transfer.proxy ?? url
        guard peer.address == nil else { return }
        let addresses = transfer.hop.proxyAddresses ?? transfer.hop.checkedAddresses
        let list = addresses.map(Self.text).joined(separator: ",")
        // The plus lets the entry expire, so that libcurl's DNS cache does not grow forever.
        unsafe resolved = curl_slist_append(nil, "+\(peer.host):\(peer.port):\(list)")
        unsafe CCurlShim_set_list(handle, CURLOPT_RESOLVE, resolved)
    }

    private static func text(of address: IPAddress) -> String { address.isV6 ? "[\(address)]" : "\(address)" }

    /// Call it within a callback; libcurl then stops reading from the connection.
    func pauseReceiving() { _ = unsafe curl_easy_pause(handle, CURLPAUSE_RECV) }

    /// Calls the callbacks with bytes that libcurl had already read, and returns their error.
    func resumeReceiving() -> CURLcode { unsafe curl_easy_pause(handle, CURLPAUSE_CONT) }

    /// The status of the proxy's last response to CONNECT; 0 if there was none.
    var tunnelStatus: Int { unsafe CCurlShim_get_long(handle, CURLINFO_HTTP_CONNECTCODE) }

    func microseconds(_ info: CURLINFO) -> Duration { .microseconds(unsafe CCurlShim_get_offset(handle, info)) }

    var connectionCount: Int { unsafe CCurlShim_get_long(handle, CURLINFO_NUM_CONNECTS) }

    private func setFields(_ lines: [String], forwarded: ClientFields?) -> Bool {
        unsafe CCurlShim_set_list(handle, CURLOPT_HTTPHEADER, nil)
        unsafe curl_slist_free_all(headers)
        unsafe headers = nil
        for line in lines {
            guard let longer = unsafe curl_slist_append(headers, line) else { return false }
            unsafe headers = longer
        }
        for line in forwarded?.lines ?? [] {
            guard let longer = unsafe curl_slist_append(headers, line) else { return false }
            unsafe headers = longer
        }
        return unsafe CCurlShim_set_list(handle, CURLOPT_HTTPHEADER, headers) == CURLE_OK
    }

    private func setBody(_ upload: TransferUpload?) -> Bool {
        let codes = unsafe [
            // libcurl does not write to it.
            CCurlShim_set_pointer(
                handle, CURLOPT_POSTFIELDS,
                upload?.bytes.withUnsafeBytes { unsafe UnsafeMutableRawPointer(mutating: $0.baseAddress) }),
            CCurlShim_set_long(handle, CURLOPT_POSTFIELDSIZE, upload?.bytes.count ?? -1),
            CCurlShim_set_string(handle, CURLOPT_CUSTOMREQUEST, upload?.method.rawValue),
            upload == nil ? CCurlShim_set_long(handle, CURLOPT_HTTPGET, 1) : CURLE_OK,
        ]
        return codes.allSatisfy { $0 == CURLE_OK }
    }

    private func set(_ option: CURLoption, to value: Int) { unsafe CCurlShim_set_long(handle, option, value) }

    private func set(_ option: CURLoption, to value: String) { unsafe CCurlShim_set_string(handle, option, value) }
}
