import ThumbnailPipeline

/// A target that was read and judged once, with what its answers will need again and again.
final class PreparedQuery: Sendable {
    /// What the target says.
    let query: ThumbnailQuery
    /// The name of the answer's file, without its extension.
    let fileName: FileName
    /// The fields of the last answer, reused while nothing they are made of changes.
    let template = ThumbnailFieldsTemplate()

    /// Prepares the answers to `query`.
    init(_ query: ThumbnailQuery) {
        self.query = query
        fileName = FileName(source: query.request.source)
    }
}
