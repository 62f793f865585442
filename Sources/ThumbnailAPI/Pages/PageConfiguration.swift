import Dialects
import Imaging
import JSON

/// The values of the configuration that the page needs besides the routes.
///
/// It stands in the page itself, so that the page needs no further request before it is of use. It tells nothing that
/// the answers of the routes would not tell.
struct PageConfiguration: Sendable {
    /// Whether images may be sent.
    let takesUploads: Bool
    /// Most bytes of an image that is sent.
    let maximumUploadBytes: Int
    /// Whether requests must be signed.
    let needsSignature: Bool
    /// Whether the routes that the page asks are refused, because other dialects have keys.
    let isClosed: Bool
    /// The source that is shown before the user names one; nil for none.
    let sampleSource: String?
    /// The formats in which a quality means something, each with its default.
    let qualities: [(format: ImageFormat, quality: Int)]

    /// The sides in pixels and the qualities that requests without a signature may ask for; empty for any.
    let sizes: (sides: [Int], qualities: [Int])

    /// The values of a service with this configuration.
    init(_ configuration: APIConfiguration) {
        takesUploads = configuration.takesUploads
        maximumUploadBytes = configuration.maximumUploadBytes
        needsSignature = !configuration.signingKeys.isEmpty
        isClosed = !configuration.isOpen(configuration.nativeDialect)
        sampleSource = configuration.sampleSource
        sizes = (configuration.vocabulary.sizes.sizes, configuration.vocabulary.sizes.qualities)
        qualities = ImageFormat.written.filter { $0.hasQuality || $0.hasPaletteQuality }.map {
            ($0, $0.hasQuality ? ImageFormat.usualLook : 100)
        }
    }

    /// The page with the values in the attribute `data-service` of its root.
    func inserted(into page: [UInt8]) -> [UInt8] {
        let mark = Array(#"data-service="{}""#.utf8)
        guard let start = page.firstRange(of: mark) else { return page }
        let values = JSONValue.object([
            ("uploads", .bool(takesUploads)), ("maxUploadBytes", .int(maximumUploadBytes)),
            ("signed", .bool(needsSignature)), ("closed", .bool(isClosed)),
            ("sample", sampleSource.map { .string($0) } ?? .null),
            ("sizes", .array(sizes.sides.map { .int($0) })),
            ("allowedQualities", .array(sizes.qualities.map { .int($0) })),
            ("qualities", .object(qualities.map { ($0.format.rawValue, .int($0.quality)) })),
        ])
        let attribute = #"data-service=""# + Self.escaped(values.text) + "\""
        return page[..<start.lowerBound] + Array(attribute.utf8) + page[start.upperBound...]
    }

    /// The text as the value of an attribute in quotes.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "\"": escaped += "&quot;"
            case "<": escaped += "&lt;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
