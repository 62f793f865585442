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
