import Memory
import Recipes

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
