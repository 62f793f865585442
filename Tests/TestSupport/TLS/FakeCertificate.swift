import CLibssl

/// A certificate made by the test, with its key and its issuers.
///
/// Immutable; libcrypto counts its references atomically.
@safe
package final class FakeCertificate: @unchecked Sendable {
    let certificate: OpaquePointer
    let key: OpaquePointer
    private let issuer: FakeCertificate?

    package static func root(_ name: String = "Root") -> FakeCertificate {
        FakeCertificate(name: name, alternativeNames: nil, isExpired: false, issuer: nil)
    }

    package static func selfSigned(for names: [String]) -> FakeCertificate {
        FakeCertificate(name: "Self", alternativeNames: names, isExpired: false, issuer: nil)
    }

    /// An intermediate authority issued by this one.
    package func authority(_ name: String = "Intermediate") -> FakeCertificate {
        FakeCertificate(name: name, alternativeNames: nil, isExpired: false, issuer: self)
    }

    /// The certificate of a server with these host names; an expired one ended an hour ago.
    package func server(for names: [String], isExpired: Bool = false) -> FakeCertificate {
        FakeCertificate(name: "Server", alternativeNames: names, isExpired: isExpired, issuer: self)
    }

    private init(name: String, alternativeNames: [String]?, isExpired: Bool, issuer: FakeCertificate?) {
        guard let key = unsafe makeKey(), let certificate = unsafe X509_new() else {
            preconditionFailure("libcrypto makes no certificate")
        }
        unsafe self.key = key
        unsafe self.certificate = certificate
        self.issuer = issuer
        unsafe X509_set_version(certificate, 2)
        unsafe ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int.random(in: 1..<Int(Int32.max)))
        unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), -7_200)
        unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), isExpired ? -3_600 : 7_200)
        unsafe X509_set_pubkey(certificate, key)
        let subject = unsafe X509_get_subject_name(certificate)
        unsafe X509_NAME_add_entry_by_txt(subject, "CN", 0x1000 | 1, Array(name.utf8), CInt(name.utf8.count), -1, 0)
        let authority = unsafe issuer?.certificate ?? certificate
        unsafe X509_set_issuer_name(certificate, X509_get_subject_name(authority))
        if let alternativeNames {
            add(NID_basic_constraints, "critical,CA:FALSE")
            add(NID_subject_alt_name, alternativeNames.map { "DNS:\($0)" }.joined(separator: ","))
        } else {
            add(NID_basic_constraints, "critical,CA:TRUE")
            add(NID_key_usage, "critical,keyCertSign,cRLSign")
        }
        let signature = unsafe X509_sign(certificate, issuer?.key ?? key, nil)
        precondition(signature > 0, "libcrypto signs nothing")
    }

    deinit {
        unsafe X509_free(certificate)
        unsafe EVP_PKEY_free(key)
    }

    package var der: [UInt8] {
        unsafe bytes { unsafe i2d_X509(certificate, $0) }
    }

    /// The public key with its algorithm (`SubjectPublicKeyInfo`) in DER.
    package var publicKeyDER: [UInt8] {
        unsafe bytes { unsafe i2d_PUBKEY(key, $0) }
    }

    package var pem: String { pem(der, "CERTIFICATE") }

    /// The private key in PEM.
    package var keyPEM: String { unsafe pem(bytes { unsafe i2d_PrivateKey(key, $0) }, "PRIVATE KEY") }

    private func pem(_ der: [UInt8], _ label: String) -> String {
        var text = [UInt8](repeating: 0, count: der.count / 3 * 4 + 5)
        let count = unsafe EVP_EncodeBlock(&text, der, CInt(der.count))
        var lines = ["-----BEGIN \(label)-----"]
        for start in stride(from: 0, to: Int(count), by: 64) {
            lines.append(String(decoding: text[start..<min(start + 64, Int(count))], as: UTF8.self))
        }
        return (lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
    }

    /// The authorities between the certificate and the root, which a server sends with it.
    var intermediates: [FakeCertificate] {
        guard let issuer, issuer.issuer != nil else { return [] }
        return [issuer] + issuer.intermediates
    }

    private func add(_ kind: CInt, _ value: String) {
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(&context, issuer?.certificate ?? certificate, certificate, nil, nil, 0)
        let field = unsafe X509V3_EXT_conf_nid(nil, &context, kind, value)
        unsafe X509_add_ext(certificate, field, -1)
        unsafe X509_EXTENSION_free(field)
    }
}

/// An Ed25519 key, which is fast to generate.
@unsafe
private func makeKey() -> OpaquePointer? {
    let context = unsafe EVP_PKEY_CTX_new_id(NID_ED25519, nil)
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    unsafe EVP_PKEY_keygen_init(context)
    unsafe EVP_PKEY_keygen(context, &key)
    return unsafe key
}

/// The output of a libcrypto encoder, which allocates its own buffer.
@unsafe
private func bytes(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> CInt) -> [UInt8] {
    var block: UnsafeMutablePointer<UInt8>?
    let count = unsafe encode(&block)
    defer { unsafe CRYPTO_free(block, nil, 0) }
    return unsafe Array(UnsafeBufferPointer(start: block, count: Int(count)))
}
