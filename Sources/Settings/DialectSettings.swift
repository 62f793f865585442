import Dialects
import Downloading
import Text
import ThumbnailAPI

struct DialectSettings: Sendable {
    /// The service whose environment variables are read; nil for none.
    var environmentOf: ForeignEnvironment?
    var wsrv = WsrvConfiguration()

    var imgproxy = ImgproxyConfiguration()
    /// Origins from another service's variables; those in the settings file take precedence.
    var origins: [Origin] = []
    /// Names of dialects with restrictions from another service's variables that other dialects could bypass.
    var bounded: Set<ExactText> = []
    var thumbor = ThumborConfiguration()
    var imaginary = ImaginaryConfiguration()
    var frontEnds = FrontEndSettings()

    /// Returns the enabled dialects, in order of precedence.
    func dialects(_ vocabulary: Vocabulary) -> [any Dialect] {
        var dialects = frontEnds.dialects(vocabulary)
        if let imgproxy = ImgproxyDialect(imgproxy, vocabulary: vocabulary) { dialects.append(imgproxy) }
        if let thumbor = ThumborDialect(thumbor) { dialects.append(thumbor) }
        if let imaginary = ImaginaryDialect(imaginary, base: vocabulary.baseOrigin) { dialects.append(imaginary) }
        if let place = wsrv.place { dialects.append(WsrvDialect(at: place)) }
        return dialects
    }

    private var places: [(setting: String, place: DialectPlace?)] {
        [
            ("imgproxyPath", imgproxy.place), ("thumborPath", thumbor.place), ("wsrvPath", wsrv.place),
            ("imaginaryPath", imaginary.place),
        ]
            + FrontEndSettings.endpoints.map { ($0.setting, frontEnds.places[ExactText($0.name)]) }
    }

    /// Names of the dialects that close others, by their keys (even if they have no path) or by restrictions.
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
        let set = places.compactMap { entry in entry.place.map { (entry.setting, $0) } }
        return set.indices.flatMap { index in
            set[..<index].filter { $0.1.overlaps(set[index].1) }.map { other in
                Contradiction(
                    [other.0, set[index].0],
                    "\(other.0) is \(other.1.path) and \(set[index].0) is \(set[index].1.path): allowed are two places that do not overlap"
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
                help: "\(unsigned.joined(separator: ", ")): served without keys of their own although others have some"),
            Setting(
                environmentOf, \.dialects.environmentOf, .choice,
                help: "imgproxy, imagor or imaginary: its environment variables count below Alula's own settings"),
        ] + thumbor + imaginary + FrontEndSettings.table + imgproxy + wsrv

    private static let unsigned =
        [NativeDialect.unsignedName, "imgproxy", "thumbor", "wsrv", "imaginary"]
        + FrontEndSettings.endpoints.map(\.name)

    static let environmentOf = "environmentOf"

    private static let wsrv: [Setting] = [
        Setting(
            "wsrvPath", \.dialects.wsrv.place, .path(usual: "/wsrv"),
            help: "where URLs of weserv/images (wsrv.nl) are served: a prefix such as /wsrv, or /")
    ]
}
