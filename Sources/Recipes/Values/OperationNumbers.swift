import Text

package struct OperationParameter: Sendable {
    package enum Form: Sendable {
        /// A whole number in this range, with its placeholder in `--help`.
        case whole(String, ClosedRange<Int>)
        /// A standard deviation in hundredths of a CSS pixel: 0 or in this range.
        case deviation(ClosedRange<Int>)

        static func percent(to maximum: Int) -> Form { .whole("PERCENT", 0...maximum) }

        package func text(_ number: Int) -> String {
            switch self {
            case .whole: String(number)
            case .deviation: number.decimal(places: 2)
            }
        }
    }

    package let name: String
    package let form: Form
    package let defaultValue: Int
    package let help: String

    init(_ name: String, _ form: Form, defaultValue: Int = 0, help: String) {
        self.name = name
        self.form = form
        self.defaultValue = defaultValue
        self.help = help
    }
}

extension OperationParameter: Hashable {
    package static func == (one: Self, other: Self) -> Bool { one.name == other.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

package struct OperationNumbers: Hashable, Sendable {
    private var values: [OperationParameter: Int] = [:]

    package init() {}

    init(_ parameter: OperationParameter, _ value: Int) { self[parameter] = value }

    package subscript(parameter: OperationParameter) -> Int {
        get { values[parameter] ?? parameter.defaultValue }
        set { values[parameter] = newValue == parameter.defaultValue ? nil : newValue }
    }

    func contains(_ parameters: [OperationParameter]) -> Bool { parameters.contains { values[$0] != nil } }

    func only(_ parameters: [OperationParameter]) -> OperationNumbers {
        var numbers = self
        numbers.values = values.filter { parameters.contains($0.key) }
        return numbers
    }
}
