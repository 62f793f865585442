import Dialects
import Text

extension DialectRow {
    static let imaginary = DialectRow(
        name: "imaginary", path: { $0.imaginary.prefix },
        settings: [
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
        ],
        hasKeys: { $0.imaginary.hasKeys }
    ) { ImaginaryDialect($0.imaginary, base: $1.baseOrigin) }
}
