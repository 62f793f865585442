import Dialects
import Text

extension DialectSettings {
    /// Fewest characters of a signature key, as imaginary requires.
    private static let shortestSignatureKey = 32

    static let imaginary: [Setting] = [
        .place(
            "imaginaryPath", \.dialects.imaginary.place, usual: "/imaginary",
            help: "where URLs of imaginary lie, Nextcloud's too: / or a prefix such as /imaginary"),
        Setting(
            name: "imaginaryKey", defaultText: "none", help: "the key that they bring as key= or as API-Key",
            secrecy: .secret
        ) { (settings, text) in settings.dialects.imaginary.key = Array(text.utf8) },
        Setting(
            name: "imaginarySignatureKey", defaultText: "none", help: "the key of their signatures, as text",
            secrecy: .secret
        ) {
            (settings, text) throws(InvalidValue) in
            guard text.utf8.count >= shortestSignatureKey else {
                throw InvalidValue(allowed: "at least \(shortestSignatureKey) characters")
            }
            settings.dialects.imaginary.signatureKey = Array(text.utf8)
        },
    ]
}
