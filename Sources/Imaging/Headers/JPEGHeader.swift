extension ImageHeader {
    /// Maximum number of scans of a JPEG file: each costs a pass over the whole image, and a usual file has about ten.
    static let maximumScans = 100
    /// Maximum number of segments of a JPEG file; a profile may take 255, and other data one for each 64 KiB.
    private static let maximumSegments = 100_000

    static func jpeg(_ bytes: RawSpan) throws(ImagingError) -> ImageHeader {
        var (header, notes) = try jpegWalk(bytes)
        if notes.isStated, header.colors.highRange == .none { header.colors.highRange = .gainMap }
        if [.none, .gainMap].contains(header.colors.highRange) {
            header.gainMap = .jpeg(bytes, notes, orientation: header.orientation)
        }
        if header.gainMap != nil { header.colors.highRange = .gainMap }
        return header
    }

    /// Reads the header of a JPEG file (ITU-T T.81 annex B): the markers up to the first scan, or all of them if scans
    /// must be counted.
    static func jpegWalk(_ bytes: RawSpan) throws(ImagingError) -> (header: ImageHeader, notes: JPEGGainMapNotes) {
        var frame: JPEGFrame?
        var orientation: QuarterTurn?
        var exif: EXIFTexts?
        var profileByteCount = 0
        var profile: SourceColors??
        var exifColors: SourceColors?
        var notes = JPEGGainMapNotes()
        var (scans, count) = (0, 0)
        var offset = 2
        segments: while let (marker, next) = bytes.jpegMarker(from: offset) {
            offset = next
            if marker == 0xD9 { break }
            count += 1
            guard count <= maximumSegments else { throw .cannotDecode(detail: "the JPEG file has too many segments") }
            guard marker != 0xD8 else { throw .cannotDecode(detail: "the JPEG file has a second start of image") }
            guard let end = bytes.jpegSegmentEnd(at: offset) else {
                // After a scan the file may be truncated: it still has an image.
                if scans > 0 { break }
                throw .cannotDecode(detail: "a JPEG segment ends after the file")
            }
            switch marker {
            case 0xC4, 0xC8, 0xCC: break
            case 0xC0...0xCF:
                guard frame == nil else { throw .cannotDecode(detail: "the JPEG file has a second frame") }
                frame = try JPEGFrame(bytes, at: offset, marker: marker)
            case 0xE1 where orientation == nil && bytes.hasText("Exif\0\0", at: offset + 2):
                orientation = QuarterTurn(exif: bytes, range: offset + 2..<end)
                exif = EXIFTexts(bytes, range: offset + 2..<end)
                notes.exif = offset + 2..<end
                exifColors = SourceColors(exif: bytes, range: offset + 2..<end)
            case 0xE2 where bytes.hasText("ICC_PROFILE\0", at: offset + 2):
                profileByteCount += max(0, end - offset - 16)
                // Curves and primaries are in the first part of a profile.
                if profile == nil, try bytes.byte(at: offset + 14) == 1, end > offset + 16 {
                    profile = .some(SourceColors(profile: bytes.extracting(offset + 16..<end)))
                }
            case 0xE1, 0xE2: notes.read(bytes, marker: marker, offset + 2..<end)
            case 0xDA:
                guard let frame else { throw .cannotDecode(detail: "the JPEG file has a scan before its frame") }
                // The header of a scan with one component has 8 bytes (T.81 section B.2.3).
                guard end >= offset + 8 else {
                    if scans > 0 { break segments }
                    throw .cannotDecode(detail: "a JPEG scan has no components")
                }
                scans += 1
                guard scans <= maximumScans else { throw .cannotDecode(detail: "the JPEG file has too many scans") }
                let components = try bytes.byte(at: offset + 2)
                if !frame.isProgressive, components == frame.components {
                    break segments
                }
            default: break
            }
            offset = end
        }
        guard let frame, scans > 0 else { throw .cannotDecode(detail: "the JPEG file has no scan") }
        let header = frame.header(orientation: orientation ?? .none, profileByteCount: profileByteCount, exif: exif)
            .with(profileByteCount > 0 ? profile ?? nil : exifColors)
        return (header, notes)
    }
}

/// A frame header (T.81 section B.2.2).
private struct JPEGFrame {
    let size: PixelSize
    let components: Int
    let isProgressive: Bool
    let isChromaSubsampled: Bool

    init(_ bytes: RawSpan, at offset: Int, marker: Int) throws(ImagingError) {
        // The decoder supports Huffman and arithmetic coding, sequential and progressive. Lossless and hierarchical
        // files are rare.
        guard [0xC0, 0xC1, 0xC2, 0xC9, 0xCA].contains(marker) else {
            throw .cannotDecode(detail: "unknown JPEG process \(marker - 0xC0)")
        }
        let length = try bytes.bigEndian16(at: offset)
        let precision = try bytes.byte(at: offset + 2)
        size = try PixelSize(width: bytes.bigEndian16(at: offset + 5), height: bytes.bigEndian16(at: offset + 3))
        components = try bytes.byte(at: offset + 7)
        isProgressive = marker == 0xC2 || marker == 0xCA
        guard precision == 8, size.width > 0, size.height > 0, [1, 3, 4].contains(components),
            length == 8 + 3 * components
        else {
            throw .cannotDecode(detail: "a JPEG frame of \(size), \(components) components of \(precision) bits")
        }
        var areas: [Int] = []
        for index in 0..<components {
            let factors = try bytes.byte(at: offset + 9 + 3 * index)
            areas.append((factors >> 4) * (factors & 15))
        }
        isChromaSubsampled = components == 3 && max(areas[1], areas[2]) * 4 <= areas[0]
    }

    func header(orientation: QuarterTurn, profileByteCount: Int, exif: EXIFTexts?) -> ImageHeader {
        ImageHeader(
            format: .jpeg, storedSize: size, orientation: orientation, bands: components,
            isProgressive: isProgressive, isChromaSubsampled: isChromaSubsampled, profileByteCount: profileByteCount,
            exif: exif)
    }
}

extension RawSpan {
    /// Returns the next JPEG marker that is neither a restart nor a stuffed byte, and the start of its segment; nil at
    /// the end of the file.
    ///
    /// Each byte is read at most once, so the time is limited by the file's length, even for a file that contains only
    /// stuffed bytes.
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

    /// Returns the end of the segment whose length is at `offset`; nil if the segment is truncated.
    ///
    /// A length includes its own two bytes. Some programs write less than 2 for an empty segment, and libjpeg accepts
    /// that.
    func jpegSegmentEnd(at offset: Int) -> Int? {
        guard let length = try? bigEndian16(at: offset) else { return nil }
        let end = offset + max(2, length)
        return end <= byteCount ? end : nil
    }

    /// Returns whether the byte at `offset`, which must be within the file, begins or pads a marker.
    private func isMarkerByte(at offset: Int) -> Bool {
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) == 0xFF
    }
}
