import Memory

/// Removes text chunks, because libpng inflates each to up to 8 MB: a file of 4 MB took 15 s and 2 GB.
enum PNGTrimmer {
    /// Maximum stored bytes of a profile.
    private static let maximumProfileSize = 4 << 20

    static func trim(_ file: SharedBytes) -> SharedBytes {
        file.removing { file, remove in
            var hasProfile = false
            var chunks = PNGChunks()
            // Keep a truncated chunk, so that the decoder reports the damage.
            while let chunk = chunks.next(in: file), chunk.range.upperBound <= file.byteCount,
                !file.hasText("IEND", at: chunk.type)
            {
                let isProfile = file.hasText("iCCP", at: chunk.type)
                let isNeeded =
                    isProfile ? !hasProfile && isPlausible(file, profile: chunk.data) : isNeeded(file, chunk: chunk)
                hasProfile = hasProfile || isProfile
                if !isNeeded { remove(chunk.range) }
            }
        }
    }

    /// Returns whether libspng accepts the profile; it fails if the profile inflates to more than 60 MB.
    private static func isPlausible(_ file: RawSpan, profile: Range<Int>) -> Bool {
        guard profile.count > 32 << 10 else { return true }
        guard profile.count <= maximumProfileSize, let end = file.firstIndex(of: 0, from: profile.lowerBound),
            end < profile.lowerBound + 80
        else { return false }
        // A profile begins with its length.
        let size = Inflation.prefix(of: file.extracting(end + 2..<profile.upperBound), maximum: 4)
        return (128...8 * maximumProfileSize).contains(size.reduce(0) { $0 << 8 | Int($1) })
    }

    private static func isNeeded(_ file: RawSpan, chunk: PNGChunks.Chunk) -> Bool {
        // An uppercase first letter marks a critical chunk (W3C PNG section 5.4): keep it.
        guard let letter = try? file.byte(at: chunk.type), letter & 0x20 != 0 else { return true }
        if file.hasText("tRNS", at: chunk.type) { return true }
        // Most files have some of these small chunks; removing them is not worth a copy of the file.
        return chunk.data.count <= 32 && small.contains { file.hasText($0, at: chunk.type) }
    }

    private static let small: [StaticString] = ["gAMA", "cHRM", "sRGB", "pHYs", "sBIT", "bKGD", "tIME"]
}
