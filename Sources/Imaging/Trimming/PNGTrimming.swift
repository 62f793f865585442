import Memory

/// Removes the chunks of PNG files that do not affect pixels.
///
/// libpng inflates every text chunk, up to 8 MB each: a file of 4 MB took 15 s and 2 GB.
enum PNGTrimming {
    /// The longest profile to keep, in bytes as stored.
    private static let longestProfile = 4 << 20

    static func trim(_ file: SharedBytes) -> SharedBytes {
        file.keeping(forEachNeededPart)
    }

    private static func forEachNeededPart(of file: RawSpan, _ keep: (Range<Int>) -> Void) {
        var hasProfile = false
        // The start of a run of chunks to keep.
        var start = 0
        var offset = 8
        while let length = try? file.bigEndian32(at: offset), offset + 12 + length <= file.byteCount,
            !file.hasText("IEND", at: offset + 4)
        {
            let end = offset + 12 + length
            let isProfile = file.hasText("iCCP", at: offset + 4)
            let isNeeded =
                isProfile ? !hasProfile && length <= longestProfile : isNeeded(file, chunkAt: offset, length: length)
            hasProfile = hasProfile || isProfile
            if !isNeeded {
                if start < offset { keep(start..<offset) }
                start = end
            }
            offset = end
        }
        // A truncated chunk is kept, so that the decoder reports the damage.
        if start < file.byteCount { keep(start..<file.byteCount) }
    }

    /// Returns whether to keep a chunk other than a profile.
    private static func isNeeded(_ file: RawSpan, chunkAt offset: Int, length: Int) -> Bool {
        // An uppercase first letter marks critical chunks (W3C PNG section 5.4): the decoder handles unknown ones.
        guard let letter = try? file.byte(at: offset + 4), letter & 0x20 != 0 else { return true }
        if file.hasText("tRNS", at: offset + 4) { return true }
        // Most files have some of these small chunks: removing them is not worth a copy of the file.
        let isSmall = length <= 32
        return isSmall && small.contains { file.hasText($0, at: offset + 4) }
    }

    private static let small: [StaticString] = ["gAMA", "cHRM", "sRGB", "pHYs", "sBIT", "bKGD", "tIME"]
}

extension SharedBytes {
    /// Returns the parts of the file to keep; the same bytes if that is all of it.
    ///
    /// - Parameter walk: Calls `keep` with the parts to keep, in order; the same parts at every call.
    func keeping(
        _ walk: (_ file: RawSpan, _ keep: (Range<Int>) -> Void) -> Void
    ) -> SharedBytes {
        // The bytes are counted first, because a list of ranges could be long: a file may have a million small parts.
        let kept = withBytes { file in
            var sum = 0
            walk(file) { sum += $0.count }
            return sum
        }
        guard kept < count else { return self }
        var result = ByteAccumulator(reservingCapacity: kept)
        unsafe withUnsafeBytes { bytes in
            walk(unsafe bytes.bytes) { unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[$0])) }
        }
        return result.finish()
    }
}
