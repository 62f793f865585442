import Recipes
import Text
import ThumbnailTypes

struct ParameterForm<Value: Sendable>: Sendable {
    /// The placeholder in `--help`, such as `PIXELS`.
    let placeholder: String
    let values: [String]
    /// Reads a value; the second argument is the parameter's name.
    let read: @Sendable (String, String) throws(APIError) -> Value
    let write: @Sendable (Value) -> String

    init(
        _ placeholder: String, values: [String] = [],
        read: @escaping @Sendable (String, String) throws(APIError) -> Value,
        write: @escaping @Sendable (Value) -> String
    ) {
        self.placeholder = placeholder
        self.values = values
        self.read = read
        self.write = write
    }

    init(
        _ placeholder: String, _ reason: String, read: @escaping @Sendable (String) -> Value?,
        write: @escaping @Sendable (Value) -> String
    ) {
        self.init(
            placeholder,
            read: { text, name throws(APIError) in
                guard let value = read(text) else { throw .badParameter(name, reason) }
                return value
            }, write: write)
    }
}

extension ParameterForm where Value == Int {
    init(_ form: OperationParameter.Form) {
        switch form {
        case .whole(let placeholder, let range):
            self = .whole(placeholder, from: range.lowerBound, to: range.upperBound)
        case .deviation(let range): self = .deviation(range)
        }
    }

    /// - Parameter maximum: The upper bound that error texts name; nil to omit it.
    static func whole(_ placeholder: String, from minimum: Int, to maximum: Int?, largest: Int = 999_999_999) -> Self {
        Self(
            placeholder, "Must be a whole number from \(minimum)\(maximum.map { " to \($0)" } ?? "").",
            read: { ParameterGrammar.integer($0, in: minimum...(maximum ?? largest)) }, write: String.init)
    }

    static func oneOf(_ numbers: [Int]) -> Self {
        let values = numbers.map(String.init)
        return Self(
            "NUMBER", values: values,
            read: { text, name throws(APIError) in
                guard let number = ParameterGrammar.integer(text, in: 0...999), numbers.contains(number) else {
                    throw .badChoice(name, allowed: values)
                }
                return number
            }, write: String.init)
    }

    static var side: Self { .whole("PIXELS", from: 1, to: 16_384) }

    /// Reads degrees clockwise, counterclockwise if negative.
    static var turn: Self {
        let distance = distance(to: 359)
        return Self(
            "DEGREES",
            read: { text, name throws(APIError) in
                let degrees = try distance.read(text, name)
                return degrees < 0 ? degrees + 360 : degrees
            }, write: String.init)
    }

    /// Reads a fraction as a whole number of units of the last decimal.
    static func fraction(_ placeholder: String, decimals: Int, in range: ClosedRange<Int>, allowed: String) -> Self {
        Self(
            placeholder, "Must be \(allowed) decimals.",
            read: { ParameterGrammar.fraction($0, decimals: decimals, in: range) },
            write: { $0.decimal(places: decimals) })
    }

    static var share: Self { .fraction("SHARE", decimals: 3, in: 0...1_000, allowed: "0 to 1 with at most three") }

    /// Reads a standard deviation in hundredths of a CSS pixel; 0 disables the filter.
    static func deviation(_ range: ClosedRange<Int>) -> Self {
        func text(_ hundredths: Int) -> String { hundredths.decimal(places: 2) }
        return Self(
            "SIGMA", "Must be 0, or \(text(range.lowerBound)) to \(text(range.upperBound)) with at most two decimals.",
            read: { value in
                ParameterGrammar.fraction(value, decimals: 2, in: 0...range.upperBound)
                    .flatMap { $0 == 0 || range.contains($0) ? $0 : nil }
            }, write: { $0.decimal(places: 2) })
    }

    static func distance(to maximum: Int) -> Self {
        Self(
            "PIXELS", "Must be a whole number from -\(maximum) to \(maximum).",
            read: { value in
                let digits = value.utf8.first == UInt8(ascii: "-") ? value.dropFirst() : value[...]
                let isNegative = digits.utf8.count < value.utf8.count
                return ParameterGrammar.integer(digits, in: (isNegative ? 1 : 0)...maximum).map {
                    isNegative ? -$0 : $0
                }
            }, write: String.init)
    }

    static var expiry: Self {
        Self(
            "SECONDS", read: { text, name throws(APIError) in try ParameterGrammar.expires(text, parameter: name) },
            write: String.init)
    }
}

extension ParameterForm where Value == Bool {
    static var flag: Self {
        Self(
            "0|1", values: ["0", "1"],
            read: { text, name throws(APIError) in try ParameterGrammar.flag(text, parameter: name) },
            write: { $0 ? "1" : "0" })
    }
}

extension ParameterForm where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// Reads a lowercase word of `Value`, ignoring case.
    static var choice: Self {
        Self(
            "WORD", values: Value.allCases.map(\.rawValue),
            read: { text, name throws(APIError) in try ParameterGrammar.choice(text.asciiLowercased, parameter: name) },
            write: { $0.rawValue })
    }
}

extension ParameterForm where Value == Color {
    static var color: Self {
        Self(
            "COLOR", "Not a color in hexadecimal, by its CSS name, or as rgb().",
            read: { ColorGrammar.nativeColor($0) }, write: { $0.hexadecimal })
    }
}

extension ParameterForm where Value == Gravity {
    static var position: Self {
        Self(
            "WORD", values: ParameterGrammar.positionNames,
            read: { text, name throws(APIError) in
                switch ParameterGrammar.gravity(text.asciiLowercased) {
                case .attention, .entropy, .face, nil: throw .badChoice(name, allowed: ParameterGrammar.positionNames)
                case let position?: return position
                }
            }, write: { ParameterGrammar.name(of: $0) ?? "" })
    }
}

extension ParameterForm where Value == ImageFormat? {
    static var format: Self {
        Self(
            "WORD", values: ParameterGrammar.formatNames,
            read: { text, name throws(APIError) in try ParameterGrammar.format(text.asciiLowercased, parameter: name) },
            write: { $0?.rawValue ?? "auto" })
    }
}

extension ParameterForm where Value == ImageOperations.Trim {
    static var tolerance: Self {
        let number = ParameterForm<Int>.whole("DIFFERENCE", from: 1, to: 255)
        return Self(
            number.placeholder,
            read: { text, name throws(APIError) in ImageOperations.Trim(tolerance: try number.read(text, name)) },
            write: { number.write($0.tolerance) })
    }
}

extension ParameterForm where Value == ImageOperations.Crop {
    static var cropArea: Self {
        Self(
            "X,Y,W,H", "Must be x,y,w,h: whole pixels, or shares from 0.0 to 1.0 with one to four decimals.",
            read: Self.crop
        ) { crop in
            switch crop {
            case .pixels(let x, let y, let width, let height): "\(x),\(y),\(width),\(height)"
            case .fractions(let x, let y, let width, let height):
                [x, y, width, height].map { $0.decimal(places: 4, minimum: 1) }.joined(separator: ",")
            }
        }
    }

    @Sendable private static func crop(_ text: String) -> ImageOperations.Crop? {
        let fields = text.split(separator: ",", omittingEmptySubsequences: false)
        guard fields.count == 4 else { return nil }
        let isShare = fields.allSatisfy { $0.contains(".") }
        let numbers = fields.compactMap { field in
            isShare
                ? ParameterGrammar.fraction(field, decimals: 4, in: 0...10_000)
                : ParameterGrammar.integer(field, in: 0...999_999_999)
        }
        // A crop without width or height is invalid.
        guard numbers.count == 4, numbers[2] > 0, numbers[3] > 0 else { return nil }
        return isShare
            ? .fractions(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
            : .pixels(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    }
}

extension ParameterForm where Value == ImageOperations.Margins {
    static var margins: Self {
        Self("TOP,RIGHT…", "Must be one to four whole numbers from 0 to 4096 with commas between them.") { text in
            let fields = text.split(separator: ",", omittingEmptySubsequences: false)
            let numbers = fields.compactMap { ParameterGrammar.integer($0, in: 0...4_096) }
            guard 1...4 ~= fields.count, numbers.count == fields.count else { return nil }
            let top = numbers[0]
            let right = numbers.count > 1 ? numbers[1] : top
            return ImageOperations.Margins(
                top: top, right: right, bottom: numbers.count > 2 ? numbers[2] : top,
                left: numbers.count > 3 ? numbers[3] : right)
        } write: { margins in
            let sides = [margins.top, margins.right, margins.bottom, margins.left]
            return Set(sides).count == 1 ? String(sides[0]) : sides.map(String.init).joined(separator: ",")
        }
    }
}

extension ParameterForm where Value == ImageOperations.Radius {
    static var radius: Self {
        Self("PIXELS|max", "Must be max, or a whole number from 0 to 16384.") { text in
            text.asciiLowercased == "max"
                ? .maximum : ParameterGrammar.integer(text, in: 0...16_384).map { .pixels($0) }
        } write: { radius in
            switch radius {
            case .pixels(let pixels): String(pixels)
            case .maximum: "max"
            }
        }
    }
}

extension ParameterForm where Value == KeptMetadata {
    static var keptMetadata: Self {
        Self(
            "WORDS", "Must be none, or rights and ai with a comma between them.",
            read: { KeptMetadata($0.asciiLowercased) }, write: { $0.text })
    }
}

extension ParameterForm where Value == [ExactText] {
    static var tags: Self {
        Self("TAGS", CacheTag.listForm, read: { CacheTag.list($0) }) { tags in tags.map(\.string).joined(separator: ",")
        }
    }
}
