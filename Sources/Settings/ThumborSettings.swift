import Crypto
import Dialects
import Imaging
import Text
import ThumbnailAPI

extension DialectSettings {
    static let thumbor: [Setting] = [
        Setting(
            "thumborPath", \.dialects.thumbor.place, .path(usual: "/img"),
            help: "where URLs of thumbor and imagor lie: / or a prefix"),
        Setting(
            "thumborKey", \.dialects.thumbor.key, .bytes(), help: "the key of their signatures, as text",
            secrecy: .secret),
        Setting("thumborSigner", \.dialects.thumbor.signer, .choice, default: "sha1", help: "sha1, sha256 or sha512"),
        Setting(
            "thumborSignerTruncate", \.dialects.thumbor.signatureLength, signatureLength, default: "0",
            help: "characters that signatures are cut to; 0 for all"),
        Setting(
            "thumborUnsafe", \.dialects.thumbor.servesUnsafe, .flag, none: "on without a key",
            help: "whether unsafe/ URLs are served: on or off"),
        Setting(
            "thumborBaseURL", \.dialects.thumbor.baseURL, .init(SettingValues.sourceBase), default: "http://",
            help: "what stands before addresses of images without a scheme: http://, https://HOST/PATH/ or NAME:",
            secrecy: .hidden),
        Setting(
            "thumborAutoFormats", \.dialects.thumbor.automaticFormats, .formats(),
            help: "formats that Accept may choose where a URL names none, best first"),
        Setting(
            "thumborAutoJPEG", \.dialects.thumbor.replacesPNG, .flag, default: "off",
            help: "opaque PNG images become JPEG where a URL names no format"),
    ]
    private static let signatureLength = SettingParser<Int?> { (text) throws(InvalidValue) in
        let length = try SettingValues.integer(text, in: 0...88)
        guard length == 0 || length >= 16 else { throw InvalidValue(allowed: "0, or 16 to 88") }
        return length == 0 ? nil : length
    }
}
