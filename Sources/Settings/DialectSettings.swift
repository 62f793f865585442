import Dialects
import Downloading
import Text
import ThumbnailAPI

struct DialectRow: Sendable {
    let name: String
    let path: @Sendable (DialectSettings) -> PathPrefix?
    let settings: [Setting]
    var hasKeys: @Sendable (DialectSettings) -> Bool = { _ in false }
    let dialect: @Sendable (DialectSettings, Vocabulary) -> (any Dialect)?

    var pathSetting: String { name + "Path" }
}

struct DialectSettings: Sendable {
    var environmentOf: OtherServiceEnvironment?
    var wsrv = WsrvConfiguration()

    var imgproxy = ImgproxyConfiguration()
    var origins: [Origin] = []
    /// Dialects with limits from another service's variables that other dialects could bypass.
    var bounded: Set<ExactText> = []
    var thumbor = ThumborConfiguration()
    var imaginary = ImaginaryConfiguration()
    var frontEnds = FrontEndSettings()

    func dialects(_ vocabulary: Vocabulary) -> [any Dialect] { Self.rows.compactMap { $0.dialect(self, vocabulary) } }

    var closing: Set<ExactText> { bounded.union(Self.rows.filter { $0.hasKeys(self) }.map { ExactText($0.name) }) }

    func contradictions(_ vocabulary: Vocabulary) -> [Contradiction] {
        let set = Self.rows.compactMap { row in row.path(self).map { (row.pathSetting, $0) } }
        let overlaps = set.indices.flatMap { index in
            set[..<index].filter { $0.1.overlaps(set[index].1) }.map { other in
                Contradiction(
                    settings: [other.0, set[index].0],
                    line: "\(other.0) (\(other.1.path)) and \(set[index].0) (\(set[index].1.path)) overlap")
            }
        }
        return overlaps + imgproxyContradictions(vocabulary) + closedEnvironment
    }

    /// Contradictions if Alula's routes would be open although the other service would serve nothing.
    private var closedEnvironment: [Contradiction] {
        guard thumbor.key == nil, thumbor.servesUnsafe == false else { return [] }
        return switch environmentOf {
        case .thumbor: [Contradiction(settings: [], line: "ALLOW_UNSAFE_URL: False needs SECURITY_KEY")]
        case .imagor:
            [
                Contradiction(
                    settings: [], line: "IMAGOR_SECRET: missing; only IMAGOR_UNSAFE=1 serves unsigned URLs without it")
            ]
        default: []
        }
    }

    private static let rows: [DialectRow] = [.thumbor, .imaginary] + DialectRow.frontEnds + [.imgproxy, .wsrv]

    static let table: [Setting] =
        [
            Setting(
                "unsignedDialects", \.api.unsignedDialects,
                as: .set(
                    .list(allowed: "\(unsigned.joined(separator: ", ")), separated by commas") {
                        unsigned.contains($0) ? ExactText($0) : nil
                    }),
                help: "\(unsigned.joined(separator: ", ")): serve unsigned requests although others have keys",
                reloads: true),
            Setting(
                environmentOf, \.dialects.environmentOf, as: .choice,
                help:
                    "imgproxy, thumbor, imagor or imaginary: read its environment variables; Alula's settings override them"
            ),
        ] + rows.flatMap(\.settings) + [FrontEndSettings.baseOrigin]

    private static let unsigned = [NativeDialect.unsignedName] + rows.map(\.name)

    static let environmentOf = "environmentOf"
}

extension DialectRow {
    fileprivate static let wsrv = DialectRow(
        name: "wsrv", path: { $0.wsrv.prefix },
        settings: [
            Setting(
                "wsrvPath", \.dialects.wsrv.prefix, as: .path(example: "/wsrv"),
                help: "path of weserv/images' (wsrv.nl) URLs: / or a prefix such as /wsrv")
        ]
    ) { settings, _ in settings.wsrv.prefix.map { WsrvDialect(at: $0) } }
}
