import Recipes
import TestSupport
import ThumbnailTypes

@testable import Dialects

extension Request {
    /// The watermark of a request in Alula's own grammar.
    var watermark: Vocabulary.Watermark? {
        nativeOptions?.watermark.flatMap { options in
            additional.first.map { Vocabulary.Watermark(source: $0.source, options: options) }
        }
    }
}
