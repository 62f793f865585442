/// A format is a case here, a row of `Formats`, and a folder of `Imaging` with its header walk, decoder and encoder.
package enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    case jpeg, png, webp, gif, avif, heic, jxl, tiff, bmp, ico, raw, svg

    package init?(name: String) { self.init(rawValue: name == "jpg" ? "jpeg" : name) }
}

extension ImageFormat {
    /// Returns the first format that supports the result; otherwise PNG, or JPEG for an opaque still.
    package static func first(
        of formats: [ImageFormat], excluding unsupportedFormats: Set<ImageFormat>, hasAlpha: Bool, isMoving: Bool
    ) -> ImageFormat {
        let choices = unsupportedFormats.isEmpty ? formats : formats.filter { !unsupportedFormats.contains($0) }
        return choices.first ?? (hasAlpha || isMoving || unsupportedFormats.contains(.jpeg) ? .png : .jpeg)
    }
}

package enum FormatChoice: Hashable, Sendable {
    case fixed(ImageFormat)
    /// `format=auto`, with the explicit quality values of `Accept` in thousandths (RFC 9110 section 12.5.1).
    case negotiated([ImageFormat: Int])

    package var isFixed: Bool { if case .fixed = self { true } else { false } }

    /// Returns the accepted format with the smallest estimated files at equal visual quality.
    ///
    /// - Parameters:
    ///   - isMoving: Whether the result keeps several frames, if its format supports them.
    ///   - automatic: The formats that `Accept` may select; the first of equals wins.
    package func format(
        from source: ImageFormat, hasAlpha: Bool, pixels: Int, isMoving: Bool = false, automatic: [ImageFormat],
        excluding unsupportedFormats: Set<ImageFormat> = []
    ) -> ImageFormat {
        switch self {
        case .fixed(let format): return format
        case .negotiated(let qualities):
            let source = source.hasPreview ? source.outputFormat(hasAlpha: hasAlpha) : source
            let floor = max(1, unsupportedFormats.contains(source) ? 0 : qualities[source] ?? 0)
            let answer = ImageFormat.first(
                of: [source.outputFormat(hasAlpha: hasAlpha)], excluding: unsupportedFormats, hasAlpha: hasAlpha,
                isMoving: isMoving)
            // All clients read JPEG, so it competes even if `Accept` does not list it.
            let maximum = answer == .jpeg ? answer.photographBytes(ofPixels: pixels) ?? .max : .max
            let chosen = automatic.filter { (qualities[$0] ?? 0) >= floor && !unsupportedFormats.contains($0) }
                .map { (format: $0, bytes: $0.photographBytes(ofPixels: pixels) ?? maximum) }
                .filter { $0.bytes <= maximum }.min { $0.bytes < $1.bytes }
            return chosen?.format ?? answer
        }
    }
}
