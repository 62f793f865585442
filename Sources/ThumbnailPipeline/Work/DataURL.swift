import Crypto
import Imaging
import Memory

extension EncodedImage {
    /// The file as the text of a `data:` URL (RFC 2397), in one block that counts itself.
    ///
    /// It is made with the result and kept in its place, so that all who read it share it.
    func asDataURL() -> EncodedImage {
        let start = "data:\(format.mediaType);base64,"
        let digitCount = (bytes.count + 2) / 3 * 4
        var text = ByteAccumulator(reservingCapacity: start.utf8.count + digitCount)
        unsafe Array(start.utf8).withUnsafeBytes { unsafe text.append($0) }
        for first in stride(from: 0, to: bytes.count, by: Self.piece) {
            let piece = SharedBytes(first..<min(first + Self.piece, bytes.count), of: bytes).array
            unsafe Array(Base64.encode(piece).utf8).withUnsafeBytes { unsafe text.append($0) }
        }
        return EncodedImage(bytes: text.finish(), format: format, size: size, quality: quality)
    }

    /// Bytes that are encoded at once: whole groups of three, so that only the last piece is padded.
    private static var piece: Int { 48 << 10 }
}
