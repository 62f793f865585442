import Recipes

/// Reads the header from the properties of the primary item and its parts.
///
/// The size is the visible size, and the orientation is 1, because the decoder turns, mirrors and crops. An orientation
/// in EXIF data must be ignored (ISO/IEC 23000-22 section 7.3.10.1).
enum HEIFHeader {
    static func outline(_ format: ImageFormat) -> FormatCodec.Outline {
        { bytes throws(ImagingError) in
            (try read(bytes, format: format, countsFrames: false), metadata(bytes))
        }
    }

    /// - Parameter countsFrames: Whether to count all coded frames, including hidden ones.
    static func read(
        _ bytes: RawSpan, format: ImageFormat, countsFrames: Bool = true
    ) throws(ImagingError) -> ImageHeader {
        let items = try HEIFItems.all(bytes)
        let exif = items.flatMap { EXIFTexts.heif(bytes, items: $0) }
        if let sequence = try HEIFSequence(bytes, items: items) {
            return try header(of: sequence, in: bytes, format: format, exif: exif, countsFrames: countsFrames)
        }
        guard let items else { throw .cannotDecode(detail: "the HEIF file has no items") }
        var header = try header(of: items, in: bytes, format: format, exif: exif, countsFrames: countsFrames)
        if items.holdsGainMap, header.colors.hdrFormat == .none { header.colors.hdrFormat = .gainMap }
        if header.colors.hdrFormat == .gainMap {
            header.gainMap = .heif(bytes, items: items, of: header, countsFrames: countsFrames)
        }
        return header
    }

    static func header(
        of items: HEIFItems, in bytes: RawSpan, format: ImageFormat, exif: EXIFTexts?, countsFrames: Bool
    ) throws(ImagingError) -> ImageHeader {
        guard let primary = items.primary else { throw .cannotDecode(detail: "the HEIF file has no primary item") }
        let shown = items.shown(primary)
        let properties = try items.properties(of: shown, in: bytes)
        var work = HEIFWork(items, countsFrames: countsFrames)
        let amounts = try work.amounts(of: primary, in: bytes)
        let size = try items.transform(of: primary, in: bytes).shownSize
        let declaration = HEIFDeclaration(properties, in: bytes)
        var depths = declaration.depths
        // The tiles of a grid are separate items; the grid's properties do not describe their coding.
        let codings = items.properties.compactMap { property in
            if case .coding(let depth, let isSubsampled, _) = property {
                (depth: depth, isSubsampled: isSubsampled)
            } else {
                nil
            }
        }
        // If any item is an alpha plane, the image has alpha. Layers may leave areas uncovered.
        let isLayered = items.types[shown] == BoxCursor.type("iovl")
        let background = try isLayered ? HEIFLayers(bytes, of: shown, in: items)?.background : nil
        let hasAlpha = items.properties.contains(.alpha) || background.map { $0[3] < 255 } ?? false
        let bands = depths.count < 3 ? 1 : 3
        depths += codings.map(\.depth)
        guard let depth = depths.max() else { throw .cannotDecode(detail: "the HEIF file has no bit depth") }
        return ImageHeader(
            format: format, storedSize: size,
            work: DecoderWork(area: amounts.area, runs: amounts.runs, hiddenArea: amounts.hiddenArea),
            bands: bands + (hasAlpha ? 1 : 0), bitDepth: depth,
            hasAlpha: hasAlpha, isChromaSubsampled: !codings.isEmpty && codings.allSatisfy(\.isSubsampled),
            profileByteCount: declaration.profileByteCount, exif: exif
        ).with(declaration.colors)
    }

    private static func header(
        of sequence: HEIFSequence, in bytes: RawSpan, format: ImageFormat, exif: EXIFTexts?, countsFrames: Bool
    ) throws(ImagingError) -> ImageHeader {
        let declaration = HEIFDeclaration(sequence.colors.properties, in: bytes)
        var depth = 8
        var isSubsampled = false
        for case .coding(let bits, let isCoarse, _) in sequence.colors.properties {
            depth = bits
            isSubsampled = isCoarse
        }
        let hasAlpha = sequence.alpha != nil
        let hidden = try sequence.hiddenFrames(in: bytes, countsFrames: countsFrames)
        guard hidden <= ImageHeader.maximumDecoderRuns else {
            throw .cannotDecode(detail: "the file has \(hidden) hidden frames")
        }
        return ImageHeader(
            format: format, storedSize: sequence.colors.size,
            work: DecoderWork(runs: hidden, hiddenArea: sequence.colors.size.area.saturatingProduct(hidden)),
            bands: hasAlpha ? 4 : 3, bitDepth: depth, frames: sequence.frames, hasAlpha: hasAlpha,
            isChromaSubsampled: isSubsampled, profileByteCount: declaration.profileByteCount, exif: exif
        ).with(declaration.colors)
    }
}

extension HEIFItems {
    fileprivate var holdsGainMap: Bool {
        properties.contains(.gainMap) || types.values.contains(BoxCursor.type("tmap"))
    }
}

private struct HEIFDeclaration {
    private(set) var depths = [8, 8, 8]
    private(set) var profileByteCount = 0
    private var profile: SourceColors??
    private var codePoints: SourceColors?
    private var peak = 0

    init(_ properties: [HEIFProperty], in bytes: RawSpan) {
        for property in properties {
            switch property {
            case .depths(let depths): self.depths = depths
            case .profile(let range):
                profileByteCount = range.count
                if profile == nil { profile = .some(SourceColors(profile: bytes.extracting(range))) }
            case .colors(let colors): codePoints = codePoints ?? colors.declared
            case .peak(let content, let display): peak = content > 0 ? content : peak > 0 ? peak : display
            default: break
            }
        }
    }

    /// The colors by a profile or else by code points; nil for sRGB code points, which need no conversion.
    var colors: SourceColors? {
        if let profile, let profile { return profile }
        guard var colors = codePoints, colors.space != .srgb || colors.hdrFormat != .none else { return nil }
        colors.encoding?.peak = min(peak, 10_000)
        return colors
    }
}

extension HEIFHeader {
    /// The UUID of a top-level box with a C2PA manifest (C2PA section A.5.1).
    private static let manifest: [UInt8] = [
        0xD8, 0xFE, 0xC3, 0xD6, 0x1B, 0x0E, 0x48, 0x3C, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7E, 0xC4, 0x81,
    ]

    static func metadata(_ bytes: RawSpan) -> EmbeddedMetadata {
        var metadata = EmbeddedMetadata()
        if let items = try? HEIFItems.all(bytes), let item = items.packet,
            let range = try? items.locations.onlyExtent(of: item, in: bytes)
        {
            metadata.addPacket(bytes, at: range)
        }
        var boxes = BoxCursor(0..<bytes.byteCount, mayBeCut: true)
        while let box = try? boxes.next(in: bytes) {
            guard box.type == BoxCursor.type("uuid") else { continue }
            metadata.hasManifest = metadata.hasManifest || bytes.hasBytes(manifest, at: box.contents.lowerBound)
        }
        return metadata
    }
}
