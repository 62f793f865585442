import Crypto
import Dialects
import Text
import ThumbnailAPI

extension DialectSettings {
    static let imgproxy: [Setting] = [
        Setting(
            "imgproxyPath", \.dialects.imgproxy.place, .path(usual: "/img"),
            help: "where imgproxy's URLs lie, such as /img or /"),
        Setting(
            "imgproxyKeys", \.dialects.imgproxy.keys, .init(SettingValues.hexadecimal),
            help: "hexadecimal keys of imgproxy's signatures", secrecy: .secret),
        Setting(
            "imgproxySalts", \.dialects.imgproxy.salts, .init(SettingValues.hexadecimal),
            help: "hexadecimal salts, one for each of the keys", secrecy: .secret),
        Setting(
            "imgproxySignatureSize", \.dialects.imgproxy.signatureSize, .integer(in: 1...32), default: "32",
            help: "bytes of imgproxy's signatures, 1…32"),
        Setting(
            "imgproxyTrustedSignatures", \.dialects.imgproxy.trustedSignatures, .names,
            help: "texts that count as valid signatures", secrecy: .secret),
        Setting(
            "imgproxyBaseURL", \.dialects.imgproxy.baseURL, .init(SettingValues.sourceBase),
            help: "what is put before sources in imgproxy's URLs: https://HOST/PATH/ or NAME:", secrecy: .hidden),
        Setting(
            "imgproxyArgumentsSeparator", \.dialects.imgproxy.argumentsSeparator, .init(SettingValues.separator),
            default: ":", help: "between the arguments of imgproxy's options"),
    ]
}

extension DialectSettings {
    func imgproxyContradictions(_ vocabulary: Vocabulary) -> [Contradiction] {
        var found = imgproxy.presetFaults(vocabulary).map { Contradiction(["presets"], $0) }
        let (keys, salts) = (imgproxy.keys.count, imgproxy.salts.count)
        if keys != salts {
            found.append(
                Contradiction(
                    ["imgproxySalts", "imgproxyKeys"],
                    "imgproxyKeys are \(keys) and imgproxySalts are \(salts): allowed are as many salts as keys"))
        }
        return found
    }
}

extension SettingValues {
    /// Reads the prefix of sources: a URL prefix, or a named origin with its colon.
    static func sourceBase(_ text: String) throws(InvalidValue) -> SourceBase {
        guard text.isEmpty || text.utf8.contains(UInt8(ascii: ":")) else {
            throw InvalidValue(
                allowed: "a beginning of URLs such as https://example.com/photos/, or NAME: of an origin")
        }
        return SourceBase(text)
    }

    /// Reads comma-separated hexadecimal texts of any length.
    static func hexadecimal(_ text: String) throws(InvalidValue) -> [[UInt8]] {
        var values: [[UInt8]] = []
        for member in try list(text) {
            guard let bytes = Hexadecimal.decode(member) else {
                throw InvalidValue(allowed: "hexadecimal digits, in pairs; several separated by commas")
            }
            values.append(bytes)
        }
        return values
    }

    static func separator(_ text: String) throws(InvalidValue) -> String {
        let isAllowed = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"/?#%".utf8.contains($0) }
        guard (1...8).contains(text.utf8.count), isAllowed else {
            throw InvalidValue(allowed: "1 to 8 visible characters of ASCII without / ? # %")
        }
        return text
    }
}
