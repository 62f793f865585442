import Crypto
import Dialects
import Text
import ThumbnailAPI

extension DialectRow {
    static let imgproxy = DialectRow(
        name: "imgproxy", path: { $0.imgproxy.prefix },
        settings: [
            Setting(
                "imgproxyPath", \.dialects.imgproxy.prefix, as: .path(example: "/img"),
                help: "path of imgproxy's URLs, such as /img or /"),
            Setting(
                "imgproxyKeys", \.dialects.imgproxy.keys, as: .hexadecimal,
                help: "hexadecimal keys of imgproxy's signatures", secrecy: .secret, reloads: true),
            Setting(
                "imgproxySalts", \.dialects.imgproxy.salts, as: .hexadecimal,
                help: "hexadecimal salts, one for each key", secrecy: .secret, reloads: true),
            Setting(
                "imgproxySignatureSize", \.dialects.imgproxy.signatureSize, as: .integer(in: 1...32), default: "32",
                help: "length of imgproxy's signatures in bytes, 1…32"),
            Setting(
                "imgproxyTrustedSignatures", \.dialects.imgproxy.trustedSignatures, as: .names,
                help: "texts accepted as signatures", secrecy: .secret, reloads: true),
            Setting(
                "imgproxyBaseURL", \.dialects.imgproxy.baseURL, as: .sourceBase,
                help: "prefix of sources in imgproxy's URLs: https://HOST/PATH/ or NAME:", secrecy: .hidden),
            Setting(
                "imgproxyArgumentsSeparator", \.dialects.imgproxy.argumentsSeparator, as: separator, default: ":",
                help: "separator of option arguments in imgproxy's URLs"),
        ],
        hasKeys: { !$0.imgproxy.keys.isEmpty }
    ) { ImgproxyDialect($0.imgproxy, vocabulary: $1) }

    private static let separator = SettingParser.text(allowed: "1 to 8 visible characters of ASCII without / ? # %") {
        text in
        (1...8).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isVisibleASCII && !"/?#%".utf8.contains($0) }
    }
}

extension DialectSettings {
    func imgproxyContradictions(_ vocabulary: Vocabulary) -> [Contradiction] {
        var conflicts = imgproxy.presetFaults(vocabulary).map { Contradiction(settings: ["presets"], line: $0) }
        let keys = imgproxy.keys.count
        let salts = imgproxy.salts.count
        if keys != salts {
            conflicts.append(
                Contradiction(
                    settings: ["imgproxySalts", "imgproxyKeys"],
                    line: "each of the \(keys) imgproxyKeys needs a salt; there are \(salts) imgproxySalts"))
        }
        return conflicts
    }
}
