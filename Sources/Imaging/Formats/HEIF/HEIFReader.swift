import CCodedImages
import CPlanar
import Coordination
import Memory
import Recipes

/// Reads HEIF files: our own code parses boxes and items, dav1d and libde265 decode the coded images.
enum HEIFReader {
    static func planes(
        _ file: SharedBytes, header: ImageHeader, plan: DecodePlan, token: WorkToken, allocate: PlaneMemory.Allocator
    ) throws -> PlaneDecodeResult {
        guard header.colors.encoding?.isHDR != true, let image = try image(of: file, header: header),
            image.alpha == nil,
            image.colors?.matrix != HEIFColors.reversible
        else {
            return .unsupported(lacksPixels: false)
        }
        let profile = file.profile(at: image.profile).map { $0.withBytes { ICCProfile($0) } }
        if let profile, profile.space == .color || profile.space == .gray, profile.colors == nil {
            return .unsupported(lacksPixels: false)
        }
        let orientation = image.transform.turn
        let decoded = try CodedPlanes.decode(
            image.canvas, of: image, in: file, level: plan.level, token: token,
            allocate: { orientation == .none ? try allocate($0) : try PlaneMemory(count: $0) })
        guard let colors = decoded.codedColors(declared: image.colors) else {
            throw ImagingError.cannotDecode(detail: "the image has unknown colors")
        }
        try colors.convertToBT601(decoded)
        let isOfProfile = profile?.space == (decoded.planes.count == 1 ? .gray : .color)
        let declared = header.colors.encoding?.profile(ofBands: decoded.planes.count)
        let numbers = isOfProfile ? profile?.colors.flatMap { $0.isSRGB ? nil : $0 } : declared
        let hasColorDetail = unsafe ColorDetail.isFound(
            in: CPlanarPlanes(decoded.planes, in: UnsafeRawBufferPointer(decoded.memory.bytes)))
        let (pixels, planes) = try decoded.takeMemory().upright(decoded.planes, turned: orientation, allocate: allocate)
        return .decoded(
            DecodedImage(
                pixels: pixels, planes: planes, range: colors.range, profile: numbers, hasColorDetail: hasColorDetail))
    }

    static func pixels(
        _ file: SharedBytes, header: ImageHeader, plan: DecodePlan, token: WorkToken
    ) throws -> DecodedPixels {
        let items = try file.withBytes { bytes throws(ImagingError) in try HEIFItems.all(bytes) }
        if let sequence = try file.withBytes({ bytes throws(ImagingError) in try HEIFSequence(bytes, items: items) }) {
            return try HEIFFrames(sequence).pixels(file, header: header, plan: plan, token: token)
        }
        guard let items, let primary = items.primary else {
            throw ImagingError.cannotDecode(detail: "the HEIF file has no primary item")
        }
        return try HEIFPixels(items, in: file, token: token).load(
            primary, hasAlpha: header.hasAlpha, keepsBits: header.colors.encoding?.isHDR == true)
    }

    private static func image(of file: SharedBytes, header: ImageHeader) throws -> HEIFImage? {
        let image = try file.withBytes { bytes throws(ImagingError) -> HEIFImage? in
            guard let items = try HEIFItems.all(bytes), let primary = items.primary else { return nil }
            return try HEIFImage(bytes, of: primary, in: items)
        }
        if let image, image.transform.shownSize != header.storedSize {
            throw ImagingError.cannotDecode(
                detail: "the size \(header.storedSize) of the header does not match the items")
        }
        return image
    }
}

extension SharedBytes {
    func profile(at range: Range<Int>?) -> SharedBytes? {
        range.flatMap { 1...ICCProfile.maximumLength ~= $0.count ? SharedBytes(SharedBytes($0, of: self).array) : nil }
    }
}

extension CodedPlanes {
    func codedColors(declared: HEIFColors?) -> CodedColors? {
        CodedColors(
            declared ?? colors, isFullyDetailed: planes.count == 1 || planes[0].size == planes[1].size, bits: bits)
    }
}

/// HEVC images in HEIF files (ISO/IEC 23008-12).
enum HEICFormat {
    static let codec = FormatCodec(
        decoding: .init(
            leadingBytes: .brands(["heic", "heix", "heim", "heis", "hevc", "hevx"]),
            header: { bytes throws(ImagingError) in try HEIFHeader.read(bytes, format: .heic) },
            loader: .pixels { try HEIFReader.pixels($0, header: $1, plan: $2, token: $3) },
            planes: planes, metadata: HEIFHeader.metadata, outline: HEIFHeader.outline(.heic)))

    static let planes: FormatCodec.PlaneLoader = { file, header, plan, token, allocate, _ in
        try HEIFReader.planes(file, header: header, plan: plan, token: token, allocate: allocate)
    }
}
