/// A chapter of the book that the pages link to, as the text that it is written in.
enum BookChapter: String, CaseIterable, Sendable {
    case firstSteps = "first-steps"
    case operations
    case watermarksAndPresets = "watermarks-and-presets"
    case formats
    case httpCaching = "http-caching"
    case dialects
    case pages
    case operating
    case reliability

    /// The chapters for those who ask for thumbnails.
    static let ofClients: [BookChapter] = [
        .firstSteps, .operations, .watermarksAndPresets, .formats, .httpCaching, .dialects, .pages,
    ]
    /// The chapters for those who run the service.
    static let ofOperators: [BookChapter] = [.pages, .operating, .reliability, .httpCaching]

    /// The path at which the chapter is served.
    var path: String { "/page/book/\(rawValue).md" }

    var bytes: [UInt8] {
        switch self {
        case .firstSteps: PackageResources.first_steps_md
        case .operations: PackageResources.operations_md
        case .watermarksAndPresets: PackageResources.watermarks_and_presets_md
        case .formats: PackageResources.formats_md
        case .httpCaching: PackageResources.http_caching_md
        case .dialects: PackageResources.dialects_md
        case .pages: PackageResources.pages_md
        case .operating: PackageResources.operating_md
        case .reliability: PackageResources.reliability_md
        }
    }
}
