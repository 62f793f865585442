package import Memory
package import Recipes

/// RAW photographs; only their embedded JPEG previews are decoded.
enum RAWFormat {
    static let codec = FormatCodec(
        decoding: .init(
            leadingBytes: .contents { RAWContents($0) != nil },
            header: { bytes throws(ImagingError) in try RAWHeader.read(bytes) },
            loader: JPEGFormat.codec.decoding.loader))
}

extension ImageHeader {
    /// Returns the file to decode and its header: of a RAW photograph, its preview with its turn and colors.
    package func decodedFile(in file: SharedBytes) throws(ImagingError) -> (file: SharedBytes, header: ImageHeader) {
        guard let preview else { return (file, self) }
        guard preview.range.upperBound <= file.count else {
            throw .cannotDecode(detail: "the preview ends after the file")
        }
        let previewFile = SharedBytes(preview.range, of: file)
        let previewHeader = try previewFile.withBytes { bytes throws(ImagingError) in try JPEGHeader(bytes).header }
        let isMarked = previewHeader.orientation == orientation && previewHeader.colors == colors
        let marked =
            isMarked ? previewFile : previewFile.replacing(2..<2, with: SharedBytes(JPEGSegments.exif(exifOfPreview)))
        return (marked, try ImageHeader.inspect(marked))
    }

    /// EXIF data with the turn and color space (2 for Adobe RGB), inserted before the preview's own.
    private var exifOfPreview: [UInt8] {
        func entry(_ tag: Int, type: Int, value: Int) -> [UInt8] {
            tag.bigEndianBytes(2) + type.bigEndianBytes(2) + 1.bigEndianBytes(4)
                + (type == 3 ? value.bigEndianBytes(2) + [0, 0] : value.bigEndianBytes(4))
        }
        let short = 3
        let long = 4
        let main =
            2.bigEndianBytes(2) + entry(EXIFDirectory.orientation, type: short, value: orientation.exif)
            + entry(EXIFDirectory.exifIFD, type: long, value: 38) + 0.bigEndianBytes(4)
        let space = colors.encoding == SourceColors.adobeRGB.encoding ? 2 : 1
        let exif = 1.bigEndianBytes(2) + entry(RAWDirectory.Tag.space, type: short, value: space) + 0.bigEndianBytes(4)
        return Array("MM\0*".utf8) + 8.bigEndianBytes(4) + main + exif
    }
}
