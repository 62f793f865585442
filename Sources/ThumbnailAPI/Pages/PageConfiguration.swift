import Dialects
import JSON
import Recipes

/// Configures the page; embedded in it to save a request.
///
/// Contains only information that responses of the routes reveal, too.
struct PageConfiguration: Sendable {
    let takesUploads: Bool
    let maximumUploadBytes: Int
    let needsSignature: Bool
    /// Whether the page's routes are closed because other dialects have keys.
    let isClosed: Bool
    let sampleSource: String?
    let qualities: [(format: ImageFormat, quality: Int)]

    /// The sizes that unsigned requests may have; empty if any.
    let sizes: (sides: [Int], qualities: [Int])

    init(_ configuration: APIConfiguration) {
        takesUploads = configuration.takesUploads
        maximumUploadBytes = configuration.maximumUploadBytes
        needsSignature = !configuration.keys.isEmpty
        isClosed = !configuration.isOpen(configuration.nativeDialect)
        sampleSource = configuration.sampleSource
        sizes = (configuration.vocabulary.sizes.sizes, configuration.vocabulary.sizes.qualities)
        qualities = ImageFormat.written.filter { $0.hasQuality || $0.hasPaletteQuality }.map {
            ($0, $0.hasQuality ? ImageFormat.defaultVisualQuality : 100)
        }
    }

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
