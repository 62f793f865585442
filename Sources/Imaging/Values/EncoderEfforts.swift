/// How much time the encoders spend to make files small, chosen by the operator.
package struct EncoderEfforts: Hashable, Sendable {
    private var chosen: [ImageFormat: Int] = [:]

    /// The defaults of all formats.
    package init() {}

    /// The effort for `format`, in the encoder's own scale.
    package subscript(format: ImageFormat) -> Int {
        get { chosen[format] ?? format.effort }
        set { chosen[format] = newValue }
    }
}

/// The scans of JPEG answers; the effort of the encoder is its place among the cases.
package enum JPEGScanChoice: Int, Sendable, CaseIterable {
    /// One, coded with tables that do not depend on the image, for a first look at the size.
    case oneFixed
    /// One, coded with tables made for the image.
    case one
    /// Several if the file is so large that they save bytes, else one.
    case bySize
    case several
}
