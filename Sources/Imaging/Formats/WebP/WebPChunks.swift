import Memory
import Recipes

/// Edits the chunks of files that the service encoded (RFC 9649).
enum WebPChunks {
    /// Adds the extended header if it is missing; nil if the file is not WebP.
    ///
    /// - Parameter size: The size of one frame.
    static func extended(_ file: [UInt8], to size: PixelSize, flags: UInt8) -> [UInt8]? {
        guard file.count > 30 else { return nil }
        var bytes = file
        if bytes[12..<16].elementsEqual("VP8X".utf8) {
            bytes[20] |= flags
            return bytes
        }
        // The lossless bitstream states whether it has alpha.
        let hasAlpha = bytes[12..<16].elementsEqual("VP8L".utf8) && bytes[24] & 0x10 != 0
        let header = [flags | (hasAlpha ? 0b1_0000 : 0), 0, 0, 0]
        bytes.insert(
            contentsOf: chunk(
                "VP8X", data: header + (size.width - 1).littleEndianBytes(3) + (size.height - 1).littleEndianBytes(3)),
            at: 12)
        return bytes
    }

    static func chunk(_ name: String, data: [UInt8]) -> [UInt8] {
        Array(name.utf8) + data.count.littleEndianBytes(4) + data + [UInt8](repeating: 0, count: data.count % 2)
    }

    static func counted(_ file: [UInt8]) -> [UInt8] { file[..<4] + (file.count - 8).littleEndianBytes(4) + file[8...] }
}

/// Removes the EXIF block that libvips 8.14 writes into every file, even if it must strip metadata.
///
/// The block has about 170 bytes, a twentieth of a small thumbnail.
enum WebPMetadata {
    private static let headerCount = 12
    private static let chunkHeaderCount = 8
    private static let flags: UInt8 = 0b0000_1100

    /// Also removes an extended header that declares nothing else; returns an incomplete WebP file unchanged.
    static func removed(from file: SharedBytes) -> SharedBytes {
        let bytes = file.array
        var content: [UInt8] = []
        content.reserveCapacity(bytes.count)
        var position = headerCount
        while position + chunkHeaderCount <= bytes.count {
            let name = bytes[position..<position + 4]
            let size = (0..<4).reduce(0) { $0 | Int(bytes[position + 4 + $1]) << (8 * $1) }
            let data = position + chunkHeaderCount
            let end = data + size + size % 2
            guard end <= bytes.count else { return file }
            if name.elementsEqual("VP8X".utf8), size > 0 {
                let remaining = bytes[data] & ~flags
                if remaining != 0 { content += bytes[position..<data] + [remaining] + bytes[data + 1..<end] }
            } else if !name.elementsEqual("EXIF".utf8) && !name.elementsEqual("XMP ".utf8) {
                content += bytes[position..<end]
            }
            position = end
        }
        guard position == bytes.count else { return file }
        let count = content.count + 4
        let size = (0..<4).map { UInt8(count >> (8 * $0) & 255) }
        return SharedBytes(bytes[..<4] + size + bytes[8..<headerCount] + content)
    }
}
