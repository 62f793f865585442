import Dialects
import Downloading
import Text
import ThumbnailAPI

struct DialectSettings: Sendable {
    /// The service whose environment variables are read; nil for none.
    var environmentOf: OtherServiceEnvironment?
    var wsrv = WsrvConfiguration()

    var imgproxy = ImgproxyConfiguration()
    /// Origins from another service's variables; those in the settings file take precedence.
    var origins: [Origin] = []
    /// Names of dialects with restrictions from another service's variables that other dialects could bypass.
    var bounded: Set<ExactText> = []
    var thumbor = ThumborConfiguration()
    var imaginary = ImaginaryConfiguration()
    var frontEnds = FrontEndSettings()

    func dialects(_ vocabulary: Vocabulary) -> [any Dialect] {
        var dialects = frontEnds.dialects(vocabulary)
        if let imgproxy = ImgproxyDialect(imgproxy, vocabulary: vocabulary) { dialects.append(imgproxy) }
        if let thumbor = ThumborDialect(thumbor) { dialects.append(thumbor) }
        if let imaginary = ImaginaryDialect(imaginary, base: vocabulary.baseOrigin) { dialects.append(imaginary) }
        if let prefix = wsrv.prefix { dialects.append(WsrvDialect(at: prefix)) }
        return dialects
    }

    private var places: [(setting: String, prefix: PathPrefix?)] {
        [
            ("imgproxyPath", imgproxy.prefix), ("thumborPath", thumbor.prefix), ("wsrvPath", wsrv.prefix),
            ("imaginaryPath", imaginary.prefix),
        ]
            + FrontEndSettings.endpoints.map { ($0.setting, frontEnds.places[ExactText($0.name)]) }
    }

    var closing: Set<ExactText> {
        var names = bounded
        if !imgproxy.keys.isEmpty { names.insert("imgproxy") }
        if thumbor.key != nil { names.insert("thumbor") }
        if imaginary.hasKeys { names.insert("imaginary") }
        return names
    }

    func contradictions(_ vocabulary: Vocabulary) -> [Contradiction] {
        overlaps + imgproxyContradictions(vocabulary)
    }

    private var overlaps: [Contradiction] {
        let set = places.compactMap { entry in entry.prefix.map { (entry.setting, $0) } }
        return set.indices.flatMap { index in
            set[..<index].filter { $0.1.overlaps(set[index].1) }.map { other in
                Contradiction(
                    [other.0, set[index].0],
                    "\(other.0) (\(other.1.path)) and \(set[index].0) (\(set[index].1.path)) overlap"
                )
            }
        }
    }
}

extension DialectSettings {
    static let table: [Setting] =
        [
            Setting(
                "unsignedDialects", \.api.unsignedDialects,
                .set(
                    .list(allowed: "\(unsigned.joined(separator: ", ")), separated by commas") {
                        unsigned.contains($0) ? ExactText($0) : nil
                    }),
                help: "\(unsigned.joined(separator: ", ")): serve these without keys even if others have keys"),
            Setting(
                environmentOf, \.dialects.environmentOf, .choice,
                help: "imgproxy, imagor or imaginary: read its environment variables; Alula's settings override them"),
        ] + thumbor + imaginary + FrontEndSettings.table + imgproxy + wsrv

    private static let unsigned =
        [NativeDialect.unsignedName, "imgproxy", "thumbor", "wsrv", "imaginary"]
        + FrontEndSettings.endpoints.map(\.name)

    static let environmentOf = "environmentOf"

    private static let wsrv: [Setting] = [
        Setting(
            "wsrvPath", \.dialects.wsrv.prefix, .path(example: "/wsrv"),
            help: "path of weserv/images' (wsrv.nl) URLs: / or a prefix such as /wsrv")
    ]
}
