/// An image file format that Alula reads or writes.
///
/// A case here and a row in `FormatTable.swift` say everything that the service needs to know about a format. Besides,
/// a format needs the code that reads its header, its loader and its saver.
package enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    case jpeg, png, webp, gif, avif, heic, jxl, tiff, bmp, ico, svg

    /// The format that people call by this name: that of its case, or `jpg`.
    package init?(name: String) {
        self.init(rawValue: name == "jpg" ? "jpeg" : name)
    }
}

extension ImageFormat {
    /// The first of `formats` that can hold the result, else the format that every client reads and that holds most:
    /// PNG, or JPEG for an opaque still.
    package static func first(
        of formats: [ImageFormat], except unfit: Set<ImageFormat>, hasAlpha: Bool, isMoving: Bool
    ) -> ImageFormat {
        let choices = unfit.isEmpty ? formats : formats.filter { !unfit.contains($0) }
        return choices.first ?? (hasAlpha || isMoving || unfit.contains(.jpeg) ? .png : .jpeg)
    }
}

/// How the output format is chosen.
package enum FormatChoice: Hashable, Sendable {
    /// The client named it.
    case fixed(ImageFormat)
    /// `format=auto`: the quality values, in thousandths, of the formats that `Accept` names explicitly (RFC 9110
    /// section 12.5.1).
    case negotiated([ImageFormat: Int])

    /// Whether the client named the format.
    package var isFixed: Bool {
        if case .fixed = self { true } else { false }
    }

    /// The format for a source of `own` format: of those that the client accepts, the one whose files are smallest at
    /// the same look, as far as that is known before any is made.
    ///
    /// - Parameters:
    ///   - own: The source's format.
    ///   - hasAlpha: Whether the source has transparency: a format that is not written is replaced by one that can hold
    ///     it.
    ///   - pixels: The number of pixels of the result.
    ///   - isMoving: Whether the result keeps several frames, if its format can.
    ///   - automatic: The formats that may be chosen by `Accept`; among equals the first one is.
    ///   - unfit: The formats that cannot hold the result.
    package func format(
        own: ImageFormat, hasAlpha: Bool, pixels: Int, isMoving: Bool = false, automatic: [ImageFormat],
        except unfit: Set<ImageFormat> = []
    ) -> ImageFormat {
        switch self {
        case .fixed(let format): return format
        case .negotiated(let qualities):
            let floor = max(1, unfit.contains(own) ? 0 : qualities[own] ?? 0)
            let answer = ImageFormat.first(
                of: [own.answer(hasAlpha: hasAlpha)], except: unfit, hasAlpha: hasAlpha, isMoving: isMoving)
            // Every client reads JPEG, so its files need not be named to be the smallest.
            let most = answer == .jpeg ? answer.photographBytes(ofPixels: pixels) ?? .max : .max
            let chosen = automatic.filter { (qualities[$0] ?? 0) >= floor && !unfit.contains($0) }
                .map { (format: $0, bytes: $0.photographBytes(ofPixels: pixels) ?? most) }
                .filter { $0.bytes <= most }.min { $0.bytes < $1.bytes }
            return chosen?.format ?? answer
        }
    }
}
