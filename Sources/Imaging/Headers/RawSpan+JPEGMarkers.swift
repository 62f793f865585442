extension RawSpan {
    /// The next JPEG marker that is no restart or stuffed byte, and where its segment starts; nil at the end of the file.
    ///
    /// One look at each byte at most, so that no file takes longer than its length: one of nothing but stuffed bytes would
    /// otherwise cost a search for each.
    func jpegMarker(from start: Int) -> (marker: Int, next: Int)? {
        var offset = start
        while let found = byteCount > offset && isMarkerByte(at: offset) ? offset : firstIndex(of: 0xFF, from: offset) {
            offset = found + 1
            while offset < byteCount, isMarkerByte(at: offset) { offset += 1 }
            guard offset < byteCount else { return nil }
            let marker = Int(unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self))
            offset += 1
            switch marker {
            case 0x00, 0x01, 0xD0...0xD7: continue
            default: return (marker, offset)
            }
        }
        return nil
    }

    /// Where the segment ends whose length stands at `offset`; nil for one that the file does not hold.
    ///
    /// A length counts itself. What says less than 2 holds nothing, for libjpeg, too, and some programs write so.
    func jpegSegmentEnd(at offset: Int) -> Int? {
        guard let length = try? bigEndian16(at: offset) else { return nil }
        let end = offset + max(2, length)
        return end <= byteCount ? end : nil
    }

    /// Whether the byte at `offset`, which must be within the file, begins or pads a marker.
    private func isMarkerByte(at offset: Int) -> Bool {
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) == 0xFF
    }
}
