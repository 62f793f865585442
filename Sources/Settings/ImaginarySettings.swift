import Dialects
import Text

extension DialectSettings {
    static let imaginary: [Setting] = [
        Setting(
            "imaginaryPath", \.dialects.imaginary.prefix, .path(example: "/imaginary"),
            help: "path of imaginary's (and Nextcloud's) URLs: / or a prefix such as /imaginary"),
        Setting(
            "imaginaryKey", \.dialects.imaginary.key, .bytes(), help: "key in key= or API-Key",
            secrecy: .secret),
        // Imaginary requires this length, too.
        Setting(
            "imaginarySignatureKey", \.dialects.imaginary.signatureKey, .bytes(atLeast: 32),
            help: "key of the signatures, as text", secrecy: .secret),
    ]
}
