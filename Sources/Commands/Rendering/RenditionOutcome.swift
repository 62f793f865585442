import Program
import Recipes

/// The outcome of one rendition of a source.
struct RenditionOutcome: Sendable {
    enum Kind: Sendable {
        case rendered(path: String, EncodedImage)
        /// An existing file was kept; `isFinished` if it is known to be the result of an earlier run.
        case skipped(path: String, isFinished: Bool)
        case failed(CommandFailure)
    }

    /// The indexes of the source and of the rendition.
    let source: Int
    let rendition: Int
    let sourceText: String
    /// The rendition's name or number; nil if there is only one.
    var renditionName: String?
    let kind: Kind
    let duration: Duration
    /// Whether it failed because of the source, like the renditions before.
    var isRepeated = false

    var failure: CommandFailure? { if case .failed(let failure) = kind { failure } else { nil } }

    /// The line for a result; nil for a failure.
    var line: String? {
        switch kind {
        case .rendered(let path, _): Program.line("\(sourceText) -> \(path)")
        case .skipped(let path, let isFinished):
            Program.line("\(sourceText) -> \(path) (\(isFinished ? "finished before" : "skipped: exists"))")
        case .failed: nil
        }
    }
}
