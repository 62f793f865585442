import Recipes

/// The markers up to the first scan, or all of them if scans must be counted (ITU-T T.81 annex B).
struct JPEGHeader {
    private(set) var gainMapSegments = JPEGGainMapSegments()
    private var frame: JPEGFrame?
    private var exif: EXIFFacts?
    private var exifColors: SourceColors?
    private var profileByteCount = 0
    private var profile: SourceColors??
    private var scans = 0

    /// The maximum number of scans; each is a pass over the whole image, and about ten are usual.
    static let maximumScans = 100
    /// Maximum stuffed bytes and restart markers above 1/16 of the file; random data have one per 256 bytes.
    private static let maximumStuffing = 1_000_000
    /// The maximum number of segments; a profile takes up to 255, other data one per 64 KiB.
    private static let maximumSegments = 100_000

    static func read(_ bytes: RawSpan, countsScans: Bool = true) throws(ImagingError) -> ImageHeader {
        let walk = try JPEGHeader(bytes, countsScans: countsScans)
        var header = try walk.header
        if walk.gainMapSegments.isDeclared, header.colors.hdrFormat == .none { header.colors.hdrFormat = .gainMap }
        if [.none, .gainMap].contains(header.colors.hdrFormat) {
            header.gainMap = .jpeg(
                bytes, segments: walk.gainMapSegments, orientation: header.orientation, countsScans: countsScans)
        }
        if header.gainMap != nil { header.colors.hdrFormat = .gainMap }
        return header
    }

    /// Reads the header; does not look for a gain map.
    ///
    /// - Parameter countsScans: Whether to count all scans; if not, stops at the first one.
    init(_ bytes: RawSpan, countsScans: Bool = true) throws(ImagingError) {
        var count = 0
        var offset = 2
        var stuffing = Self.maximumStuffing + bytes.byteCount / 16
        while let (marker, next) = bytes.jpegMarker(from: offset, stuffing: &stuffing), marker != 0xD9 {
            count += 1
            guard count <= Self.maximumSegments else {
                throw .cannotDecode(detail: "the JPEG file has too many segments")
            }
            guard marker != 0xD8 else { throw .cannotDecode(detail: "the JPEG file has a second start of image") }
            guard let end = bytes.jpegSegmentEnd(at: next) else {
                // A file truncated after a complete scan is still decodable.
                if scans > 0 { break }
                throw .cannotDecode(detail: "a JPEG segment ends after the file")
            }
            guard try read(bytes, marker: marker, at: next, end: end), countsScans || scans == 0 else { break }
            offset = end
        }
        guard stuffing >= 0 else { throw .cannotDecode(detail: "the JPEG file has too many stuffed bytes") }
    }

    /// Reads a segment; returns false if no further segment is needed.
    private mutating func read(_ bytes: RawSpan, marker: Int, at offset: Int, end: Int) throws(ImagingError) -> Bool {
        switch marker {
        case 0xC4, 0xC8, 0xCC: break
        case 0xC0...0xCF:
            guard frame == nil else { throw .cannotDecode(detail: "the JPEG file has a second frame") }
            frame = try JPEGFrame(bytes, at: offset, marker: marker)
        case 0xE1 where exif == nil && bytes.hasText("Exif\0\0", at: offset + 2):
            exif = EXIFFacts(bytes, range: offset + 2..<end)
            gainMapSegments.exif = offset + 2..<end
            exifColors = SourceColors(exif: bytes, range: offset + 2..<end)
        case 0xE2 where bytes.hasText("ICC_PROFILE\0", at: offset + 2):
            profileByteCount += max(0, end - offset - 16)
            // The first part of a profile has the curves and primaries.
            if profile == nil, try bytes.byte(at: offset + 14) == 1, end > offset + 16 {
                profile = .some(SourceColors(profile: bytes.extracting(offset + 16..<end)))
            }
        case 0xE1, 0xE2: gainMapSegments.read(bytes, marker: marker, at: offset + 2..<end)
        case 0xDA: return try readScan(bytes, at: offset, end: end)
        default: break
        }
        return true
    }

    private mutating func readScan(_ bytes: RawSpan, at offset: Int, end: Int) throws(ImagingError) -> Bool {
        guard let frame else { throw .cannotDecode(detail: "the JPEG file has a scan before its frame") }
        // A scan header for one component has 8 bytes (T.81 section B.2.3).
        guard end >= offset + 8 else {
            if scans > 0 { return false }
            throw .cannotDecode(detail: "a JPEG scan has no components")
        }
        scans += 1
        guard scans <= Self.maximumScans else { throw .cannotDecode(detail: "the JPEG file has too many scans") }
        let components = try bytes.byte(at: offset + 2)
        return frame.isProgressive || components != frame.components
    }

    var header: ImageHeader {
        get throws(ImagingError) {
            guard let frame, scans > 0 else { throw .cannotDecode(detail: "the JPEG file has no scan") }
            return ImageHeader(
                format: .jpeg, storedSize: frame.size, orientation: exif?.turn ?? .none, bands: frame.components,
                isProgressive: frame.isProgressive, isChromaSubsampled: frame.isChromaSubsampled,
                profileByteCount: profileByteCount, exif: exif?.texts
            ).with(profileByteCount > 0 ? profile ?? nil : exifColors)
        }
    }
}

private struct JPEGFrame {
    let size: PixelSize
    let components: Int
    let isProgressive: Bool
    let isChromaSubsampled: Bool

    init(_ bytes: RawSpan, at offset: Int, marker: Int) throws(ImagingError) {
        // The decoder supports Huffman and arithmetic coding, sequential and progressive, but not lossless and
        // hierarchical files, which are rare.
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
}

extension RawSpan {
    /// Returns the next marker after restart markers and stuffed bytes; nil at the end of the file.
    ///
    /// Reads each byte at most once, even in a file of only stuffed bytes.
    func jpegMarker(from start: Int) -> (marker: Int, next: Int)? {
        var stuffing = Int.max
        return jpegMarker(from: start, stuffing: &stuffing)
    }

    /// Like ``jpegMarker(from:)``; subtracts stuffed bytes and restart markers from `stuffing`, down to below zero.
    func jpegMarker(from start: Int, stuffing: inout Int) -> (marker: Int, next: Int)? {
        var offset = start
        while let found = byteCount > offset && isMarkerByte(at: offset) ? offset : firstIndex(of: 0xFF, from: offset) {
            offset = found + 1
            while offset < byteCount, isMarkerByte(at: offset) { offset += 1 }
            guard offset < byteCount else { return nil }
            let marker = Int(unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self))
            offset += 1
            switch marker {
            case 0x00, 0x01, 0xD0...0xD7:
                stuffing -= 1
                if stuffing < 0 { return nil }
            default: return (marker, offset)
            }
        }
        return nil
    }

    /// Returns the end of a segment; nil if it is truncated.
    ///
    /// The length includes its own two bytes. Some programs write less than 2 for an empty segment, which libjpeg
    /// accepts.
    func jpegSegmentEnd(at offset: Int) -> Int? {
        guard let length = try? bigEndian16(at: offset) else { return nil }
        let end = offset + max(2, length)
        return end <= byteCount ? end : nil
    }

    private func isMarkerByte(at offset: Int) -> Bool {
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) == 0xFF
    }
}
