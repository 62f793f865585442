package import Recipes
package import Text
package import ThumbnailTypes

extension Request {
    /// The options of a request by Alula's own rules.
    package var options: RenderingOptions {
        get { nativeOptions ?? RenderingOptions() }
        set { self = Request(source: source, additional: additional, options: newValue) }
    }

    /// The output format by Alula's own rules, or what to choose it by.
    package var format: FormatChoice { options.format }

    /// A request by Alula's own rules.
    package init(
        source: ExactText, additional: [AdditionalSource] = [], options: RenderingOptions = RenderingOptions(),
        format: FormatChoice
    ) {
        var options = options
        options.format = format
        self.init(source: source, additional: additional, options: options)
    }
}
