import CCurl
import CCurlShim
import HTTPTypes

/// The settings and connections shared by all transfers to one named origin, or to absolute URLs.
///
/// libcurl compares neither fields nor pins when it reuses a connection. So each named origin has its own share handle
/// with connections, and its own easy handles, which cache TLS sessions. Used only on the `transfers` thread.
@safe
final class CurlProfile {
    private static let maximumIdleHandles = 32

    let rules: OriginRules
    private let fieldLines: [String]
    private var idleHandles: [CurlEasy] = []
    private let share: UnsafeMutableRawPointer?
    private let pins: OpaquePointer?

    private var origin: Origin? { rules.origin }
    var propagatesTraces: Bool { origin?.propagatesTraces ?? false }

    init(_ rules: OriginRules) {
        self.rules = rules
        let origin = rules.origin
        unsafe share = origin == nil ? nil : CCurlShim_share_create()
        unsafe pins = makePins(origin?.tlsPolicy ?? .none)
        fieldLines = RequestFields.lines(for: origin, configuration: rules.configuration)
    }

    deinit {
        // Free handles before their connections, and connections before their pins.
        idleHandles = []
        if unsafe share != nil { _ = unsafe curl_share_cleanup(share) }
        unsafe CCurlShim_pins_free(pins)
    }

    /// Returns the field lines; the client's fields replace others of the same name.
    func lines(besides forwarded: ClientFields?) -> [String] {
        guard let forwarded else { return fieldLines }
        return fieldLines.filter { line in
            !forwarded.names.contains { $0 == HTTPField.Name(String(line.prefix { !":;".contains($0) })) }
        }
    }

    func takeHandle() -> CurlEasy? { idleHandles.popLast() ?? CurlEasy(self) }

    func release(_ easy: CurlEasy) {
        if idleHandles.count < Self.maximumIdleHandles { idleHandles.append(easy) }
    }

    /// Returns false if libcurl rejects any option, because no request may be sent without all of them.
    @unsafe
    func apply(to handle: UnsafeMutableRawPointer) -> Bool {
        guard let origin else { return true }
        guard unsafe share != nil, unsafe CCurlShim_set_pointer(handle, CURLOPT_SHARE, share) == CURLE_OK else {
            return false
        }
        if origin.tlsPolicy != .none {
            guard unsafe pins != nil, unsafe CCurlShim_set_pins(handle, pins) == CURLE_OK else { return false }
        }
        var options: [(CURLoption, String)] = []
        if let certificate = origin.clientCertificate {
            // An empty passphrase keeps libssl from prompting for one on the terminal.
            options += [
                (CURLOPT_SSLCERT, certificate.file), (CURLOPT_SSLKEY, certificate.keyFile), (CURLOPT_KEYPASSWD, ""),
            ]
        }
        if case .digest(let user, let password)? = origin.credentials {
            options += [(CURLOPT_USERNAME, user), (CURLOPT_PASSWORD, password.text)]
            let code = unsafe CCurlShim_set_long(handle, CURLOPT_HTTPAUTH, CCurlShim_digest)
            guard code == CURLE_OK else { return false }
        }
        return options.allSatisfy { unsafe CCurlShim_set_string(handle, $0.0, $0.1) == CURLE_OK }
    }

    /// The signature of requests to the origin; nil if they are not signed.
    func signature(by key: OriginCredentials.AccessKey) -> RequestSignature? {
        guard case .signature(_, let region)? = origin?.credentials else { return nil }
        return RequestSignature(key: key, region: region)
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

extension ClientCertificate {
    /// Whether the files hold a certificate and its key, without a passphrase.
    var isValid: Bool { unsafe CCurlShim_is_key_pair(file, keyFile) != 0 }
}
