import CCurl
import CCurlShim

/// Settings, fields, trust and connections that all transfers to one named origin share, or all transfers to absolute
/// URLs.
///
/// libcurl compares neither fields nor pins when it looks for a kept connection. So each named origin has its own
/// share handle with connections, and its own easy handles, which keep the TLS sessions. Confined to the thread
/// `transfers`.
@safe
final class CurlProfile {
    private static let maximumIdleHandles = 32

    let configuration: DownloadConfiguration
    private let origin: Origin?
    /// The header lines of all requests; a single request adds its own.
    let fieldLines: [String]
    /// Whether requests carry their place in a trace.
    var tellsTraces: Bool { origin?.tellsTraces ?? false }
    private var idleHandles: [CurlEasy] = []
    private let share: UnsafeMutableRawPointer?
    private let pins: OpaquePointer?

    /// The profile of `origin`; without one, that of absolute URLs.
    init(_ configuration: DownloadConfiguration, origin: Origin? = nil) {
        self.configuration = configuration
        self.origin = origin
        unsafe share = origin == nil ? nil : CCurlShim_share_create()
        unsafe pins = makePins(origin?.tlsPolicy ?? .none)
        fieldLines = RequestFields.lines(for: origin, configuration)
    }

    deinit {
        // Handles must end before their connections, and connections before their pins.
        idleHandles = []
        if unsafe share != nil { _ = unsafe curl_share_cleanup(share) }
        unsafe CCurlShim_pins_free(pins)
    }

    /// A handle that no transfer uses; nil if libcurl has no memory for one.
    func takeHandle() -> CurlEasy? { idleHandles.popLast() ?? CurlEasy(self) }

    /// Keeps a handle for the next transfer.
    func giveBack(_ easy: CurlEasy) {
        if idleHandles.count < Self.maximumIdleHandles { idleHandles.append(easy) }
    }

    /// Sets the origin's options on a new handle.
    ///
    /// False if libcurl refuses any of them: no request may be sent with only some of the options.
    @unsafe
    func apply(to handle: UnsafeMutableRawPointer) -> Bool {
        guard let origin else { return true }
        guard unsafe share != nil, unsafe CCurlShim_set_pointer(handle, CURLOPT_SHARE, share) == CURLE_OK else {
            return false
        }
        if origin.tlsPolicy != .none {
            guard unsafe pins != nil, unsafe CCurlShim_set_pins(handle, pins) == CURLE_OK else { return false }
        }
        guard case .signature(_, let region)? = origin.credentials else { return true }
        return unsafe CCurlShim_set_string(handle, CURLOPT_AWS_SIGV4, "aws:amz:\(region):s3") == CURLE_OK
    }
}

@unsafe
private func makePins(_ policy: TLSPolicy) -> OpaquePointer? {
    switch policy {
    case .none: return nil
    case .certificate(let pins):
        return unsafe CCurlShim_pins_create(0, pins.flatMap(\.digest), pins.count)
    case .publicKey(let pins):
        return unsafe CCurlShim_pins_create(1, pins.flatMap(\.digest), pins.count)
    }
}
