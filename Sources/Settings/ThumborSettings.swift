import Crypto
import Dialects
import Recipes
import Text
import ThumbnailAPI

extension DialectRow {
    static let thumbor = DialectRow(
        name: "thumbor", path: { $0.thumbor.prefix },
        settings: [
            Setting(
                "thumborPath", \.dialects.thumbor.prefix, as: .path(example: "/img"),
                help: "path of thumbor's and imagor's URLs: / or a prefix"),
            Setting(
                "thumborKey", \.dialects.thumbor.key, as: .bytes(), help: "key of the signatures, as text",
                secrecy: .secret, reloads: true),
            Setting(
                "thumborSigner", \.dialects.thumbor.signer, as: .choice, default: "sha1", help: "sha1, sha256 or sha512"
            ),
            Setting(
                "thumborSignerTruncate", \.dialects.thumbor.signatureLength, as: signatureLength, default: "0",
                help: "characters of truncated signatures; 0 for all"),
            Setting(
                "thumborUnsafe", \.dialects.thumbor.servesUnsafe, as: .flag, whenUnset: "on without a key",
                help: "on: serve unsafe/ URLs"),
            Setting(
                "thumborBaseURL", \.dialects.thumbor.baseURL, as: .sourceBase, default: "http://",
                help: "prefix of image URLs without a scheme: http://, https://HOST/PATH/ or NAME:", secrecy: .hidden),
            Setting(
                "thumborAutoFormats", \.dialects.thumbor.automaticFormats, as: .formats(),
                help: "formats that Accept may choose if a URL names none, best first"),
            Setting(
                "thumborAutoJPEG", \.dialects.thumbor.replacesPNG, as: .flag, default: "off",
                help: "on: convert opaque PNG images to JPEG if a URL names no format"),
        ],
        hasKeys: { $0.thumbor.key != nil }
    ) { settings, _ in ThumborDialect(settings.thumbor) }

    private static let signatureLength: SettingParser<Int?> = SettingParser.integer(in: 0...88)
        .map(allowed: "0, or 16 to 88") { $0 == 0 || $0 >= 16 ? $0 : nil }
        .map { $0 == 0 ? nil : $0 }
}

extension DialectRow {
    static let imaginary = DialectRow(
        name: "imaginary", path: { $0.imaginary.prefix },
        settings: [
            Setting(
                "imaginaryPath", \.dialects.imaginary.prefix, as: .path(example: "/imaginary"),
                help: "path of imaginary's (and Nextcloud's) URLs: / or a prefix such as /imaginary"),
            Setting(
                "imaginaryKey", \.dialects.imaginary.key, as: .bytes(), help: "key in key= or API-Key",
                secrecy: .secret, reloads: true),
            // Imaginary requires this length, too.
            Setting(
                "imaginarySignatureKey", \.dialects.imaginary.signatureKey, as: .bytes(atLeast: 32),
                help: "key of the signatures, as text", secrecy: .secret, reloads: true),
        ],
        hasKeys: { $0.imaginary.hasKeys }
    ) { ImaginaryDialect($0.imaginary, base: $1.baseOrigin) }
}
