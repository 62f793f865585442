import Recipes
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

extension Request {
    /// The options of a request by Alula's own rules.
    var options: RenderingOptions {
        get { ownOptions ?? RenderingOptions() }
        set { self = Request(source: source, additional: additional, options: newValue) }
    }

    /// The output format by Alula's own rules, or what to choose it by.
    var format: FormatChoice { options.format }

    /// A request by Alula's own rules.
    init(
        source: ExactText, additional: [AdditionalSource] = [], options: RenderingOptions = RenderingOptions(),
        format: FormatChoice
    ) {
        var options = options
        options.format = format
        self.init(source: source, additional: additional, options: options)
    }
}

extension Request {
    /// The watermark of a request by Alula's own rules.
    var watermark: Vocabulary.Watermark? {
        ownOptions?.watermark.flatMap { options in
            additional.first.map { Vocabulary.Watermark(source: $0.source, options: options) }
        }
    }
}
