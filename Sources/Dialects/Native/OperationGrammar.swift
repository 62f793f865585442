import Imaging

/// Reads and writes the parameters of `/thumbnail` that are operations on the image.
enum OperationGrammar {
    /// Reads one of these parameters.
    ///
    /// - Throws: ``APIError/badParameter(_:_:)`` for a value that the grammar does not allow.
    static func read(
        _ parameter: ThumbnailParameter, _ value: String, _ name: String, into operations: inout ImageOperations
    ) throws(APIError) {
        func whole(_ range: ClosedRange<Int>) throws(APIError) -> Int {
            guard let number = ParameterGrammar.integer(value, in: range) else {
                throw .badParameter(
                    name, "Must be a whole number from \(range.lowerBound) to \(range.upperBound).")
            }
            return number
        }
        func hundredths(_ range: ClosedRange<Int>) throws(APIError) -> Int {
            guard let number = ParameterGrammar.fraction(value, decimals: 2, in: 0...range.upperBound),
                number == 0 || range.contains(number)
            else {
                let (least, most) = (range.lowerBound, range.upperBound)
                throw .badParameter(
                    name,
                    "Must be 0, or \(text(hundredths: least)) to \(text(hundredths: most)) with at most two decimals.")
            }
            return number
        }
        func require<Value>(_ value: Value?, _ reason: String) throws(APIError) -> Value {
            guard let value else { throw .badParameter(name, reason) }
            return value
        }
        switch parameter {
        case .trim: operations.trim = ImageOperations.Trim(tolerance: try whole(1...255))
        case .crop:
            operations.crop = try require(
                crop(value), "Must be x,y,w,h: whole pixels, or shares from 0.0 to 1.0 with one to four decimals.")
        case .rotate: operations.rotation = try whole(0...359)
        case .flip: operations.flip = try ParameterGrammar.choice(value, name)
        case .brightness: operations.colors.brightness = try whole(0...400)
        case .contrast: operations.colors.contrast = try whole(0...400)
        case .saturate: operations.colors.saturation = try whole(0...400)
        case .hue: operations.colors.hue = try whole(0...359)
        case .grayscale: operations.colors.grayscale = try whole(0...100)
        case .sepia: operations.colors.sepia = try whole(0...100)
        case .invert: operations.colors.inversion = try whole(0...100)
        case .blur: operations.blur = try hundredths(30...10_000)
        case .sharpen: operations.sharpen = try hundredths(30...1_000)
        case .pixelate: operations.pixelate = try whole(1...256)
        case .pad:
            operations.pad = try require(
                margins(value), "Must be one to four whole numbers from 0 to 4096 with commas between them.")
        case .radius:
            operations.radius =
                value == "max"
                ? .most
                : .pixels(
                    try require(
                        ParameterGrammar.integer(value, in: 0...16_384),
                        "Must be max, or a whole number from 0 to 16384."))
        case .mask: operations.mask = try ParameterGrammar.choice(value, name)
        default: preconditionFailure("\(parameter) is no operation")
        }
    }

    /// The parameters that read back as `operations`, in a fixed order; nil for a value that is left out.
    static func values(of operations: ImageOperations) -> [(ThumbnailParameter, String?)] {
        let standard = ImageOperations()
        guard operations != standard else { return [] }
        func changed(_ property: KeyPath<ImageOperations, Int>) -> String? {
            let value = operations[keyPath: property]
            return value == standard[keyPath: property] ? nil : String(value)
        }
        return [
            (.trim, operations.trim.map { String($0.tolerance) }),
            (.trimColor, operations.trim?.color.map(ColorGrammar.text)),
            (.crop, operations.crop.map(text)),
            (.rotate, changed(\.rotation)),
            (.flip, operations.flip?.rawValue),
            (.brightness, changed(\.colors.brightness)),
            (.contrast, changed(\.colors.contrast)),
            (.saturate, changed(\.colors.saturation)),
            (.hue, changed(\.colors.hue)),
            (.grayscale, changed(\.colors.grayscale)),
            (.sepia, changed(\.colors.sepia)),
            (.invert, changed(\.colors.inversion)),
            (.blur, operations.blur == 0 ? nil : text(hundredths: operations.blur)),
            (.sharpen, operations.sharpen == 0 ? nil : text(hundredths: operations.sharpen)),
            (.pixelate, changed(\.pixelate)),
            (.pad, operations.pad == standard.pad ? nil : text(operations.pad)),
            (.radius, operations.radius == standard.radius ? nil : text(operations.radius)),
            (.mask, operations.mask?.rawValue),
        ]
    }

    private static func crop(_ text: String) -> ImageOperations.Crop? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let isShare = parts.allSatisfy { $0.contains(".") }
        let numbers = parts.compactMap { part in
            isShare
                ? ParameterGrammar.fraction(part, decimals: 4, in: 0...10_000)
                : ParameterGrammar.integer(part, in: 0...999_999_999)
        }
        // A part without width or height is none.
        guard numbers.count == 4, numbers[2] > 0, numbers[3] > 0 else { return nil }
        return isShare
            ? .fractions(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
            : .pixels(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    }

    private static func text(_ crop: ImageOperations.Crop) -> String {
        switch crop {
        case .pixels(let x, let y, let width, let height): "\(x),\(y),\(width),\(height)"
        case .fractions(let x, let y, let width, let height):
            [x, y, width, height].map { ParameterGrammar.text($0, decimals: 4, least: 1) }.joined(separator: ",")
        }
    }

    /// Missing margins are those on the other side, as in CSS.
    private static func margins(_ text: String) -> ImageOperations.Margins? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { ParameterGrammar.integer($0, in: 0...4_096) }
        guard 1...4 ~= parts.count, numbers.count == parts.count else { return nil }
        let top = numbers[0]
        let right = numbers.count > 1 ? numbers[1] : top
        return ImageOperations.Margins(
            top: top, right: right, bottom: numbers.count > 2 ? numbers[2] : top,
            left: numbers.count > 3 ? numbers[3] : right)
    }

    private static func text(_ margins: ImageOperations.Margins) -> String {
        let sides = [margins.top, margins.right, margins.bottom, margins.left]
        return Set(sides).count == 1 ? String(sides[0]) : sides.map(String.init).joined(separator: ",")
    }

    private static func text(_ radius: ImageOperations.Radius) -> String {
        switch radius {
        case .pixels(let pixels): String(pixels)
        case .most: "max"
        }
    }

    private static func text(hundredths: Int) -> String { ParameterGrammar.text(hundredths, decimals: 2) }
}
