/// An image file format that Alula reads or writes.
///
/// A case here and a row in `FormatTable.swift` say everything that the service needs to know about a format. Besides,
/// a format needs the code that reads its header, its loader and its saver.
package enum ImageFormat: String, Sendable, Hashable, CaseIterable {
    case jpeg, png, webp, gif, avif, heic, jxl, tiff, bmp, svg

    /// The format that people call by this name: that of its case, or `jpg`.
    package init?(name: String) {
        self.init(rawValue: name == "jpg" ? "jpeg" : name)
    }
}
