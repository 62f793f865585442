import Memory
import Recipes

/// Removes unneeded frames, excessive metadata and a truncated chunk, unless it has image data.
///
/// Corrects the length of truncated image data, because neither library accepts a file that is shorter than stated.
/// libwebp keeps a record of every chunk, and libvips reads all frames first, each time counting from the start: a file
/// of 4 MiB with 100,000 frames took 15 s.
enum WebPTrimmer {
    /// Amounts below which a copy of the file is not worth it.
    private static let typical = (chunks: 64, bytes: 256 << 10)
    /// The maximum number of frames, about half a second of work.
    private static let maximumFrames = 20_000

    private struct Chunk {
        let range: Range<Int>
        let isNeeded: Bool
        let isTruncated: Bool
    }

    static func trim(_ file: SharedBytes, frames: Int) throws(ImagingError) -> SharedBytes {
        guard frames <= maximumFrames else {
            throw .cannotDecode(detail: "\(frames) frames of a WebP file are too many")
        }
        var dropped = (chunks: 0, bytes: 0)
        var length = 4
        var isTruncated = false
        var hasImage = false
        file.withBytes { bytes in
            isTruncated = ((try? bytes.littleEndian32(at: 4)) ?? 0) + 8 > bytes.byteCount
            forEachChunk(of: bytes, frames: frames) { chunk in
                if !chunk.isNeeded { dropped = (dropped.chunks + 1, dropped.bytes + chunk.range.count) }
                if chunk.isNeeded,
                    (["ANMF"] + imageKinds).contains(where: { bytes.hasText($0, at: chunk.range.lowerBound) })
                {
                    hasImage = true
                }
                // Pad a truncated chunk to an even length.
                if chunk.isNeeded { length += chunk.range.count + (chunk.isTruncated ? chunk.range.count % 2 : 0) }
            }
        }
        guard hasImage else { throw .cannotDecode(detail: "the file ends before its pixels do") }
        guard isTruncated || dropped.chunks > typical.chunks || dropped.bytes > typical.bytes else { return file }
        var result = ByteAccumulator(reservingCapacity: 8 + length)
        result.append(text: "RIFF", number: length)
        result.append(Array("WEBP".utf8))
        unsafe file.withUnsafeBytes { bytes in
            forEachChunk(of: unsafe bytes.bytes, frames: frames) { chunk in
                guard chunk.isNeeded else { return }
                guard chunk.isTruncated else {
                    unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[chunk.range]))
                    return
                }
                let data = chunk.range.dropFirst(8)
                unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[chunk.range.prefix(4)]))
                result.append(number: data.count)
                unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[data]))
                if data.count % 2 == 1 { result.append([0]) }
            }
        }
        return result.finish()
    }

    private static func forEachChunk(of file: RawSpan, frames: Int, _ body: (Chunk) -> Void) {
        let announced = 8 + ((try? file.littleEndian32(at: 4)) ?? 0)
        let fileEnd = min(announced, file.byteCount)
        var framesLeft = frames
        // An image has one chunk of each other kind.
        var kindsLeft = kinds
        var offset = 12
        while let length = try? file.littleEndian32(at: offset + 4) {
            guard offset + 8 + length <= fileEnd else {
                let isImage = imageKinds.contains { file.hasText($0, at: offset) }
                if announced > fileEnd { body(Chunk(range: offset..<fileEnd, isNeeded: isImage, isTruncated: true)) }
                return
            }
            // The last byte of padding may be missing.
            let end = min(offset + 8 + length + length % 2, fileEnd)
            var isNeeded = false
            if file.hasText("ANMF", at: offset) {
                isNeeded = framesLeft > 0
                framesLeft -= 1
            } else if let kind = kindsLeft.firstIndex(where: { file.hasText($0, at: offset) }) {
                isNeeded = length <= maximumProfileSize || !file.hasText("ICCP", at: offset)
                kindsLeft.remove(at: kind)
            }
            body(Chunk(range: offset..<end, isNeeded: isNeeded, isTruncated: false))
            offset = end
        }
    }

    private static let imageKinds: [StaticString] = ["VP8 ", "VP8L"]
    private static let kinds: [StaticString] = ["VP8X", "ICCP", "ANIM", "ALPH", "VP8 ", "VP8L"]
    private static let maximumProfileSize = 4 << 20
}

extension ByteAccumulator {
    fileprivate mutating func append(text: StaticString = "", number: Int) {
        append(Array(text.description.utf8) + number.littleEndianBytes(4))
    }
}
