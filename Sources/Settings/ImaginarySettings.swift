import Dialects
import Text

extension DialectSettings {
    static let imaginary: [Setting] = [
        Setting(
            "imaginaryPath", \.dialects.imaginary.place, .path(usual: "/imaginary"),
            help: "where URLs of imaginary lie, Nextcloud's too: / or a prefix such as /imaginary"),
        Setting(
            "imaginaryKey", \.dialects.imaginary.key, .bytes(), help: "the key that they bring as key= or as API-Key",
            secrecy: .secret),
        // Imaginary requires this length, too.
        Setting(
            "imaginarySignatureKey", \.dialects.imaginary.signatureKey, .bytes(atLeast: 32),
            help: "the key of their signatures, as text", secrecy: .secret),
    ]
}
