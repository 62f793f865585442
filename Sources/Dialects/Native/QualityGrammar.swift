import Imaging

/// The parameters `q` and `maxBytes`, which decide the quality together.
extension RenderingOptions {
    /// Reads `q`: a number, or `auto`.
    mutating func readQuality(_ value: String, name: String) throws(APIError) {
        if value == "auto" {
            isQualityAutomatic = true
            return
        }
        guard let number = ParameterGrammar.integer(value, in: 1...100) else {
            throw .badParameter(name, "Must be a whole number from 1 to 100, or auto.")
        }
        quality = number
    }

    /// Reads `maxBytes`.
    mutating func readMaximumBytes(_ value: String, name: String) throws(APIError) {
        guard let number = ParameterGrammar.integer(value, in: 256...999_999_999_999) else {
            throw .badParameter(name, "Must be a whole number from 256.")
        }
        maximumBytes = number
    }

    /// Judges both together; `format` is nil if it is negotiated, and both count then if the chosen format has a
    /// quality.
    func checkQuality(format: ImageFormat?) throws(APIError) {
        let hasQuality = format?.hasQuality ?? true
        if maximumBytes != nil {
            let name = ThumbnailParameter.maximumBytes.rawValue
            guard hasQuality else { throw .badParameter(name, "Needs a format with a quality.") }
            guard !isQualityAutomatic else { throw .badParameter(name, "Excludes q=auto.") }
        }
        guard hasQuality || !isQualityAutomatic else {
            throw .badParameter(ThumbnailParameter.quality.rawValue, "auto needs a format with a quality.")
        }
    }
}
