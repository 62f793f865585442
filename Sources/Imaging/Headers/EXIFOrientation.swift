/// Reads the orientation out of EXIF data.
enum EXIFOrientation {
    /// The value of the orientation tag in the first directory; 1 if there is none, or if it cannot be read.
    ///
    /// An image with damaged metadata is still an image, so nothing here is an error.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - range: The range of the EXIF data, with or without the leading `Exif` that JPEG has.
    static func value(in bytes: RawSpan, range: Range<Int>) -> Int {
        var orientation = 1
        try? EXIFDirectory.read(bytes, range) { (entry, block) throws(ImagingError) in
            guard entry.tag == EXIFDirectory.orientation else { return true }
            let value = try entry.number(in: block)
            if 1...8 ~= value { orientation = value }
            return false
        }
        return orientation
    }
}
