package import Recipes
package import Text
package import ThumbnailTypes

extension Request {
    /// The options of a request in Alula's own grammar.
    package var options: RenderingOptions {
        get { nativeOptions ?? RenderingOptions() }
        set { self = Request(source: source, additional: additional, options: newValue) }
    }

    /// The output format of a request in Alula's own grammar, or the rules to choose it.
    package var format: FormatChoice { options.format }

    /// A request in Alula's own grammar.
    package init(
        source: ExactText, additional: [AdditionalSource] = [], options: RenderingOptions = RenderingOptions(),
        format: FormatChoice
    ) {
        var options = options
        options.format = format
        self.init(source: source, additional: additional, options: options)
    }
}
