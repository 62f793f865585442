import Crypto
import Dialects
import Imaging
import Text
import ThumbnailAPI

extension DialectSettings {
    static let thumbor: [Setting] = [
        .place(
            "thumborPath", \.dialects.thumbor.place, usual: "/img",
            help: "where URLs of thumbor and imagor lie: / or a prefix"),
        Setting(
            name: "thumborKey", defaultText: "none", help: "the key of their signatures, as text", secrecy: .secret
        ) { (settings, text) in settings.dialects.thumbor.key = Array(text.utf8) },
        .choice("thumborSigner", \.dialects.thumbor.signer, default: "sha1", help: "sha1, sha256 or sha512"),
        Setting(
            name: "thumborSignerTruncate", default: "0", help: "characters that signatures are cut to; 0 for all"
        ) {
            (settings, text) throws(InvalidValue) in
            let length = try SettingValues.integer(text, in: 0...88)
            guard length == 0 || length >= 16 else { throw InvalidValue(allowed: "0, or 16 to 88") }
            settings.dialects.thumbor.signatureLength = length == 0 ? nil : length
        },
        Setting(
            name: "thumborUnsafe", defaultText: "on without a key", help: "whether unsafe/ URLs are served: on or off"
        ) {
            (settings, text) throws(InvalidValue) in
            settings.dialects.thumbor.servesUnsafe = try SettingValues.flag(text)
        },
        Setting(
            name: "thumborBaseURL", default: "http://",
            help: "what stands before addresses of images without a scheme: http://, https://HOST/PATH/ or NAME:",
            secrecy: .hidden
        ) {
            (settings, text) throws(InvalidValue) in
            settings.dialects.thumbor.baseURL = try SettingValues.sourceBase(text)
        },
        Setting(
            name: "thumborAutoFormats", defaultText: "none",
            help: "formats that Accept may choose where a URL names none, best first"
        ) {
            (settings, text) throws(InvalidValue) in
            settings.dialects.thumbor.automaticFormats = try SettingValues.formats(text, of: ImageFormat.written)
        },
        .flag(
            "thumborAutoJPEG", \.dialects.thumbor.replacesPNG, default: "off",
            help: "opaque PNG images become JPEG where a URL names no format"),
    ]
}
