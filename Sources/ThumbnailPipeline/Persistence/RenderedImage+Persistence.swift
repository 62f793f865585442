import DiskCaching
import Imaging

/// How a result is written down: the file as it is, and what an answer says about it.
extension RenderedImage {
    /// The result as an entry.
    var entry: DiskEntry {
        var writer = RecordWriter()
        writer.write(image.format.rawValue)
        writer.write(image.size.width)
        writer.write(image.size.height)
        writer.write(eTag)
        return DiskEntry(head: writer.bytes, body: image.bytes)
    }

    /// The result that `entry` was written from; nil when it was not.
    init?(_ entry: DiskEntry) {
        var reader = RecordReader(entry.head)
        guard let format = reader.text().flatMap({ ImageFormat(rawValue: $0) }), let width = reader.int(),
            let height = reader.int(), let eTag = reader.text(), reader.isAtEnd
        else { return nil }
        self.init(
            EncodedImage(bytes: entry.body, format: format, size: PixelSize(width: width, height: height)), eTag: eTag)
    }
}
