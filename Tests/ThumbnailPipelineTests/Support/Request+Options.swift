import Recipes
import Text
import ThumbnailPipeline
import ThumbnailTypes

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

extension ImagePipeline {
    /// A plain image in the box of a request by Alula's own rules.
    func placeholder(for request: Request, color: Color) async throws -> EncodedImage {
        try await placeholder(Placeholder(color, in: request.options))
    }
}
