import CPlanar
import Coordination
import Memory
import Recipes

enum WebPPlanes {
    static func decode(
        _ file: SharedBytes, header: ImageHeader, plan: DecodePlan, token: WorkToken, allocate: PlaneMemory.Allocator
    ) throws -> PlaneDecodeResult {
        try unsafe file.withUnsafeBytes { bytes throws in
            guard unsafe CPlanar_webp_is_planar(bytes.baseAddress, bytes.count) != 0 else {
                return .unsupported(lacksPixels: false)
            }
            let planes = planes(of: header.storedSize, level: plan.level)
            let memory = try PlaneMemory.stored(planes, turned: header.orientation, allocate: allocate)
            var target = unsafe CPlanarPlanes(planes, in: UnsafeRawBufferPointer(memory.bytes))
            let status = unsafe CPlanar_webp_decode(
                bytes.baseAddress, bytes.count, &target, plan.level > 1 ? 1 : 0, CPixelsWatch(token))
            guard status == CPlanarDone || status == CPlanarTruncated else {
                try token.check()
                throw ImagingError.cannotDecode(detail: "libwebp cannot decode the image")
            }
            let isIncomplete = status == CPlanarTruncated
            try plan.checkCompleteness(isIncomplete: isIncomplete)
            let hasColorDetail = unsafe ColorDetail.isFound(in: target)
            // libwebp keeps more chroma detail when it scales to pixels.
            if hasColorDetail, plan.level > 1, !isIncomplete { return .unsupported(lacksPixels: false) }
            let (pixels, upright) = try memory.upright(planes, turned: header.orientation, allocate: allocate)
            return .decoded(
                DecodedImage(
                    pixels: pixels, planes: upright, range: .limited, profile: nil, isIncomplete: isIncomplete,
                    hasColorDetail: hasColorDetail))
        }
    }

    /// Returns the planes before the turn; libwebp's scaler fills them, so sides need not be multiples of the level.
    private static func planes(of size: PixelSize, level: Int) -> [Plane] {
        func half(_ size: PixelSize) -> PixelSize {
            PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
        }
        func reduced(_ side: Int) -> Int { Int((Double(side) / Double(level)).rounded()) }
        let luma = PixelSize(width: reduced(size.width), height: reduced(size.height))
        let chroma = half(luma)
        let stored = half(size)
        // On an odd side, the last sample covers one pixel instead of two.
        let region = Plane.Region(
            width: Double(size.width * chroma.width) / Double(2 * stored.width),
            height: Double(size.height * chroma.height) / Double(2 * stored.height))
        let whole = Plane.Region(width: Double(luma.width), height: Double(luma.height))
        return .stacked([(luma, whole), (chroma, region), (chroma, region)])
    }
}
