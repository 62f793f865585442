import CCodedImages
import Coordination
import Memory
import Recipes

/// The planes of a coded image, cropped but not turned, with 8 bits or the coded depth.
@safe
final class CodedPlanes {
    let planes: [Plane]
    let colors: HEIFColors
    /// Bits per sample; stored in bytes if 8, otherwise in 16-bit words.
    let bits: Int
    private(set) var memory: PlaneMemory
    private let levels: [Int]
    private let parts: [(left: Int, top: Int, size: PixelSize)]
    /// The sums of consecutive planes; used if means extend over several tiles.
    private var sums: PlaneMemory
    private let sumCounts: [Int]
    private let frame: FrameKind

    private struct FrameKind: Equatable {
        let count, bits, across, down: Int

        init(_ frame: CCodedImagesFrame, maximumPlanes: Int) {
            count = min(Int(frame.count), maximumPlanes)
            bits = Int(frame.bits)
            (across, down) = count == 1 ? (1, 1) : (Int(frame.across), Int(frame.down))
        }
    }

    static func decode(
        _ canvas: HEIFCanvas, of image: HEIFImage, in file: SharedBytes, level: Int, maximumPlanes: Int = 3,
        keepsBits: Bool = false, token: WorkToken, allocate: PlaneMemory.Allocator
    ) throws -> CodedPlanes {
        var result: CodedPlanes?
        for tile in canvas.tiles where image.transform.shows(tile, of: canvas.tileSize) {
            try token.check()
            let item = try CodedItem(tile.item, of: image, in: file)
            // Averaging and a resample to half the size or less hide the effect of in-loop filters, except for coarse
            // blocks.
            let isRough = level > 2 || level == 2 && 16 * item.byteCount >= canvas.tileSize.area
            let decoder = try CodedDecoder(
                canvas.coding, size: canvas.tileSize, point: item.point, skipsFilters: isRough)
            try item.withData(in: file) { data, parameters throws in
                let frame = unsafe try decoder.frame(of: data, parameters: parameters)
                if result == nil {
                    result = try CodedPlanes(
                        frame, tiles: canvas.tiles, part: image.transform.part, level: level,
                        maximumPlanes: maximumPlanes, keepsBits: keepsBits, allocate: allocate)
                }
                unsafe try result?.add(frame, left: tile.left, top: tile.top)
            }
        }
        guard let result else { throw ImagingError.cannotDecode(detail: "the image shows no tile") }
        result.finish()
        return result
    }

    init(
        _ frame: CCodedImagesFrame, tiles: [HEIFLayers.Layer] = [], part: (x: Int, y: Int, size: PixelSize), level: Int,
        maximumPlanes: Int = 3, keepsBits: Bool = false, allocate: PlaneMemory.Allocator
    ) throws {
        let kind = FrameKind(frame, maximumPlanes: maximumPlanes)
        self.frame = kind
        bits = keepsBits ? kind.bits : 8
        colors = HEIFColors(matrix: Int(frame.matrix), isFullRange: frame.is_full_range != 0)
        let indices = 0..<kind.count
        // Chroma that is subsampled on both axes is reduced by a smaller level.
        let levels = indices.map { $0 == 0 ? level : max(1, level / min(kind.across, kind.down)) }
        let parts = indices.map { index in
            let (across, down) = index == 0 ? (1, 1) : (kind.across, kind.down)
            let left = part.x / across
            let top = part.y / down
            let right = (part.x + part.size.width + across - 1) / across
            let bottom = (part.y + part.size.height + down - 1) / down
            return (left: left, top: top, size: PixelSize(width: right - left, height: bottom - top))
        }
        planes = .stacked(
            indices.map { index in
                let (across, down) = index == 0 ? (1.0, 1.0) : (Double(kind.across), Double(kind.down))
                let divisor = Double(levels[index])
                let region = Plane.Region(
                    left: (Double(part.x) / across - Double(parts[index].left)) / divisor,
                    top: (Double(part.y) / down - Double(parts[index].top)) / divisor,
                    width: Double(part.size.width) / across / divisor, height: Double(part.size.height) / down / divisor
                )
                return (parts[index].size.reduced(by: levels[index]), region)
            }, bytesPerSample: bits > 8 ? 2 : 1)
        self.levels = levels
        self.parts = parts
        memory = try allocate(planes.byteCount)
        let areas = planes.map(\.size.area)
        sumCounts = indices.map { index in
            let (across, down) = index == 0 ? (1, 1) : (kind.across, kind.down)
            let part = parts[index]
            let level = levels[index]
            // A mean can be computed immediately if all its samples are in one tile.
            let isOneTile = tiles.allSatisfy { tile in
                max(0, tile.left / across - part.left) % level == 0 && max(0, tile.top / down - part.top) % level == 0
            }
            return isOneTile ? 0 : areas[index]
        }
        sums = try PlaneMemory(count: sumCounts.reduce(0, +) * MemoryLayout<UInt32>.stride)
        unsafe sums.bytes.initializeMemory(as: UInt8.self, repeating: 0)
        // Row padding is also sent between processes.
        unsafe memory.bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// - Throws: ``ImagingError/cannotDecode(detail:)`` for a frame that does not match the others.
    @unsafe
    func add(_ frame: CCodedImagesFrame, left: Int, top: Int) throws(ImagingError) {
        guard FrameKind(frame, maximumPlanes: planes.count) == self.frame, left % self.frame.across == 0,
            top % self.frame.down == 0
        else {
            throw .cannotDecode(detail: "the tiles of the image differ in their samples")
        }
        let sources = unsafe [frame.planes.0, frame.planes.1, frame.planes.2]
        for index in planes.indices {
            let (across, down) = index == 0 ? (1, 1) : (self.frame.across, self.frame.down)
            var (mosaic, source) = unsafe (mosaic(index), sources[index])
            let status = unsafe CCodedImages_add(
                &mosaic, &source, Int32(left / across - parts[index].left), Int32(top / down - parts[index].top))
            guard status == 0 else { throw .outOfMemory(detail: "no memory to reduce the image") }
        }
    }

    func finish() {
        for index in planes.indices {
            var mosaic = unsafe mosaic(index)
            unsafe CCodedImages_finish(&mosaic)
        }
        sums = PlaneMemory()
    }

    func takeMemory() -> PlaneMemory {
        var taken = PlaneMemory()
        swap(&taken, &memory)
        return taken
    }

    @unsafe
    private func mosaic(_ index: Int) -> CCodedImagesMosaic {
        let plane = planes[index]
        let before = sumCounts.prefix(index).reduce(0, +)
        let all = unsafe sums.bytes.assumingMemoryBound(to: UInt32.self).baseAddress
        return unsafe CCodedImagesMosaic(
            samples: memory.bytes.baseAddress?.advanced(by: plane.offset), is_wide: bits > 8 ? 1 : 0,
            stride: plane.stride, width: Int32(plane.size.width), height: Int32(plane.size.height),
            whole_width: Int32(parts[index].size.width), whole_height: Int32(parts[index].size.height),
            level: Int32(levels[index]), sums: sumCounts[index] > 0 ? all?.advanced(by: before) : nil,
            bits: Int32(frame.bits), is_spread: index == 0 && colors.isFullRange && frame.bits > 8 ? 1 : 0)
    }
}

private struct CodedItem {
    private let parts: [Range<Int>]
    private let parameters: Range<Int>?
    /// The operating point (scalable AV1).
    let point: Int

    var byteCount: Int { parts.reduce(0) { $0 + $1.count } }

    init(_ item: Int, of image: HEIFImage, in file: SharedBytes) throws(ImagingError) {
        (parts, parameters, point) = try file.withBytes { bytes throws(ImagingError) in
            guard let parts = try image.items.locations.parts(of: item, in: bytes) else {
                throw .cannotDecode(detail: "the data of an item are stored in an unsupported way")
            }
            let properties = try image.items.properties(of: item, in: bytes)
            var point = 0
            for case .operatingPoint(let number) in properties { point = min(number, 31) }
            return (parts, properties.parameters, point)
        }
    }

    /// Calls `body` with the data in one piece and the contents of the codec's parameter box, possibly empty.
    func withData(in file: SharedBytes, _ body: (RawSpan, RawSpan) throws -> Void) throws {
        try file.withBytes { bytes throws in
            let parameters = bytes.extracting(parameters ?? 0..<0)
            if parts.count == 1 { return try body(bytes.extracting(parts[0]), parameters) }
            try file.joined(parts).withBytes { try body($0, parameters) }
        }
    }
}
