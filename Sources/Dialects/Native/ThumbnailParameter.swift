import Recipes
import Text
package import ThumbnailTypes

struct ThumbnailParameter: Sendable {
    typealias Path<Value> = WritableKeyPath<ThumbnailParameterValues, Value> & Sendable

    struct Uses: OptionSet {
        let rawValue: Int
        static let renditions = Uses(rawValue: 1)
        static let presets = Uses(rawValue: 2)
        static let besidePresets = Uses(rawValue: 4)
    }

    let name: String
    let aliases: [String]
    let uses: Uses
    private(set) var choices: ClientChoices = []
    private(set) var form: String
    let values: [String]
    let help: String
    private(set) var read: @Sendable (String, String, inout ThumbnailParameterValues) throws(APIError) -> Void
    let write: @Sendable (ThumbnailParameterValues) -> String?
    /// Returns the value that a plan needs; nil if it needs none, or a step of the plan names it.
    private(set) var value: @Sendable (RenderPlan) -> String? = { _ in nil }

    private init<Value>(
        _ name: String, _ form: ParameterForm<Value>, help: String, alias: String? = nil,
        uses: Uses = [.renditions, .presets],
        read: @escaping @Sendable (String, String, inout ThumbnailParameterValues) throws(APIError) -> Void,
        write: @escaping @Sendable (ThumbnailParameterValues) -> String?
    ) {
        self.name = name
        aliases = alias.map { [$0] } ?? []
        self.uses = uses
        self.form = form.placeholder
        values = form.values
        let listed = form.values.isEmpty || form.placeholder == "0|1" ? "" : ": \(form.values.joined(separator: ", "))"
        self.help = help + listed
        self.read = read
        self.write = write
    }

    /// Returns a parameter that is omitted if it has the default value.
    static func value<Value: Equatable & Sendable>(
        _ name: String, _ path: any Path<Value>, as form: ParameterForm<Value>, help: String,
        in uses: Uses = [.renditions, .presets]
    ) -> Self {
        let defaultValue = ThumbnailParameterValues()[keyPath: path]
        return Self(name, form, help: help, uses: uses) { text, name, values throws(APIError) in
            values[keyPath: path] = try form.read(text, name)
        } write: { values in
            let value = values[keyPath: path]
            return value == defaultValue ? nil : form.write(value)
        }
    }

    /// Returns a parameter that is omitted if it is nil.
    static func optional<Value: Sendable>(
        _ name: String, _ path: any Path<Value?>, as form: ParameterForm<Value>, help: String, alias: String? = nil,
        in uses: Uses = [.renditions, .presets]
    ) -> Self {
        Self(name, form, help: help, alias: alias, uses: uses) { text, name, values throws(APIError) in
            values[keyPath: path] = try form.read(text, name)
        } write: { values in
            values[keyPath: path].map(form.write)
        }
    }

    static func operation(_ operation: OperationParameter) -> Self {
        let form = ParameterForm<Int>(operation.form)
        return Self(operation.name, form, help: operation.help) { text, name, values throws(APIError) in
            values.options.operations[operation] = try form.read(text, name)
        } write: { values in
            let value = values.options.operations[operation]
            return value == operation.defaultValue ? nil : form.write(value)
        }
    }

    static func ofWatermark<Value: Sendable>(
        _ name: String, _ path: any WritableKeyPath<WatermarkParameters, Value?> & Sendable,
        as form: ParameterForm<Value>, help: String
    ) -> Self {
        Self(name, form, help: help) { text, name, values throws(APIError) in
            values.watermark.firstParameter = values.watermark.firstParameter ?? name
            values.watermark[keyPath: path] = try form.read(text, name)
        } write: { values in
            values.watermark[keyPath: path].map(form.write)
        }
    }

    /// Returns the parameter of a watermark: a source if its text has a colon, otherwise a name in the settings.
    static func watermark(_ name: String, help: String) -> Self {
        Self(name, text("URL|NAME"), help: help) { text, name, values throws(APIError) in
            guard text.utf8.contains(UInt8(ascii: ":")) else {
                guard let watermarkOptions = values.vocabulary.watermarks[ExactText(text)] else {
                    throw .badParameter(name, "Unknown watermark.")
                }
                values.watermark.named = watermarkOptions
                return
            }
            guard text.utf8.count <= ParameterGrammar.longestSource else {
                throw .badParameter(name, "The watermark's URL is longer than \(ParameterGrammar.longestSource) bytes.")
            }
            values.watermark.named = Vocabulary.Watermark(source: ExactText(text))
        } write: { values in
            values.watermark.named.map { URLEscape.encode($0.source.string) }
        }
    }

    /// Returns the parameter of a gravity; `focal` requires two other parameters for the point.
    static func gravity(_ name: String, help: String) -> Self {
        let names = ParameterGrammar.gravityNames + ["focal"]
        return Self(name, text("WORD", values: names), help: help) { text, name, values throws(APIError) in
            let text = text.asciiLowercased
            values.isFocal = text == "focal"
            guard !values.isFocal else { return }
            guard let gravity = ParameterGrammar.gravity(text) else { throw .badChoice(name, allowed: names) }
            values.options.gravity = gravity
        } write: { values in
            if values.isFocal { return "focal" }
            return values.options.gravity == .center ? nil : ParameterGrammar.name(of: values.options.gravity)
        }
    }

    func allowingAuto(_ isAutomatic: any Path<Bool>) -> Self {
        var row = self
        row.form += "|auto"
        row.read = { text, name, values throws(APIError) in
            values[keyPath: isAutomatic] = text.asciiLowercased == "auto"
            if !values[keyPath: isAutomatic] { try read(text, name, &values) }
        }
        return row
    }

    func choosing(_ choices: ClientChoices) -> Self {
        var row = self
        row.choices = choices
        return row
    }

    /// Adds the value that a plan needs, for explanations.
    func explained(_ value: @escaping @Sendable (RenderPlan) -> String?) -> Self {
        var row = self
        row.value = value
        return row
    }

    static func quality(_ name: String, help: String, alias: String) -> Self {
        Self(name, text("1…100|auto"), help: help, alias: alias) { text, name, values throws(APIError) in
            if text.asciiLowercased == "auto" {
                values.options.isQualityAutomatic = true
                return
            }
            guard let number = ParameterGrammar.integer(text, in: 1...100) else {
                throw .badParameter(name, "Must be a whole number from 1 to 100, or auto.")
            }
            values.options.quality = number
        } write: { values in
            values.options.isQualityAutomatic ? "auto" : values.options.quality.map(String.init)
        }
    }

    static func presets(_ name: String, help: String) -> Self {
        Self(name, text("NAMES"), help: help, uses: [.renditions, .besidePresets]) {
            text, name, values throws(APIError) in
            values.presets = try values.vocabulary.presetNames(text, parameter: name)
        } write: { _ in
            nil
        }
    }

    static func signature(_ name: String, help: String) -> Self {
        Self(name, text("SIGNATURE"), help: help, uses: .besidePresets) { _, _, _ in
        } write: { _ in
            nil
        }
    }

    private static func text(_ placeholder: String, values: [String] = []) -> ParameterForm<String> {
        ParameterForm(placeholder, values: values, read: { text, _ in text }, write: { $0 })
    }
}

package struct ThumbnailOption: Sendable {
    package let name: String
    package let aliases: [String]
    package let form: String
    package let values: [String]
    package let help: String

    package static let all: [ThumbnailOption] = ThumbnailParameter.all.filter { $0.uses.contains(.renditions) }.map {
        ThumbnailOption(name: $0.name, aliases: $0.aliases, form: $0.form, values: $0.values, help: $0.help)
    }

    package static func named(_ name: String) -> ThumbnailOption? {
        all.first { $0.name == name || $0.aliases.contains(name) }
    }
}

extension NativeDialect {
    package func request(options: [(name: String, value: String)]) throws(APIError) -> Request {
        try rendition(Self.query(options: options), of: Self.uploadedSource, accept: nil)
    }

    package static func query(options: [(name: String, value: String)]) -> String {
        options.map { "\(URLEscape.encode($0.name))=\(URLEscape.encode($0.value))" }.joined(separator: "&")
    }
}
