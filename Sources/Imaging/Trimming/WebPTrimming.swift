import Memory

/// Keeps from the WebP decoder the frames behind the wanted ones, and masses of chunks that no pixel needs.
///
/// libwebp keeps a record of every chunk, and libvips looks at all frames before it decodes the first, each time counting from
/// the start: a file of 4 MiB with 100,000 frames made it work for 15 s.
enum WebPTrimming {
    /// Most that is handed on of what is not needed, in chunks and in bytes: the usual metadata is not worth a copy.
    private static let usual = (chunks: 64, bytes: 256 << 10)
    /// Most frames that are handed on, which costs the decoder about half a second.
    private static let mostFrames = 20_000

    /// The file with its first `frames` frames, without other chunks where they are many.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)`` for more frames than there is time for.
    static func trim(_ file: SharedBytes, frames: Int) throws(ImagingError) -> SharedBytes {
        guard frames <= mostFrames else { throw .cannotDecode(detail: "\(frames) frames of a WebP are wanted") }
        var dropped = (chunks: 0, bytes: 0)
        file.withBytes { bytes in
            forEachChunk(of: bytes, frames: frames) { range, isNeeded in
                if !isNeeded { dropped = (dropped.chunks + 1, dropped.bytes + range.count) }
            }
        }
        guard dropped.chunks > usual.chunks || dropped.bytes > usual.bytes else { return file }
        return file.withBytes { bytes in
            var length = 4
            forEachChunk(of: bytes, frames: frames) { range, isNeeded in
                if isNeeded { length += range.count }
            }
            var result = ByteAccumulator(reservingCapacity: 8 + length)
            let lengthBytes = [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: length >> $0) }
            unsafe (Array("RIFF".utf8) + lengthBytes + Array("WEBP".utf8)).withUnsafeBytes { unsafe result.append($0) }
            unsafe bytes.withUnsafeBytes { bytes in
                forEachChunk(of: unsafe bytes.bytes, frames: frames) { range, isNeeded in
                    if isNeeded { unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[range])) }
                }
            }
            return result.finish()
        }
    }

    private static func forEachChunk(of file: RawSpan, frames: Int, _ body: (Range<Int>, _ isNeeded: Bool) -> Void) {
        let fileEnd = min(8 + ((try? file.littleEndian32(at: 4)) ?? 0), file.byteCount)
        var framesLeft = frames
        // Of the others one of a kind makes a picture.
        var kindsLeft = kinds
        var offset = 12
        while let length = try? file.littleEndian32(at: offset + 4), offset + 8 + length <= fileEnd {
            // The last byte of padding may be missing.
            let end = min(offset + 8 + length + length % 2, fileEnd)
            var isNeeded = false
            if file.hasText("ANMF", at: offset) {
                isNeeded = framesLeft > 0
                framesLeft -= 1
            } else if let kind = kindsLeft.firstIndex(where: { file.hasText($0, at: offset) }) {
                isNeeded = length <= longestProfile || !file.hasText("ICCP", at: offset)
                kindsLeft.remove(at: kind)
            }
            body(offset..<end, isNeeded)
            offset = end
        }
    }

    private static let kinds: [StaticString] = ["VP8X", "ICCP", "ANIM", "ALPH", "VP8 ", "VP8L"]
    private static let longestProfile = 4 << 20
}
