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
    private let reductions: [PlaneReduction]
    /// The sums of consecutive planes; used if means extend over several tiles.
    private var sums: PlaneMemory
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
                        frame, tiles: canvas.tiles, visible: image.transform.visible, level: level,
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
        _ frame: CCodedImagesFrame, tiles: [HEIFPlacedItem] = [], visible: PixelRectangle, level: Int,
        maximumPlanes: Int = 3, keepsBits: Bool = false, allocate: PlaneMemory.Allocator
    ) throws {
        let kind = FrameKind(frame, maximumPlanes: maximumPlanes)
        self.frame = kind
        bits = keepsBits ? kind.bits : 8
        colors = HEIFColors(matrix: Int(frame.matrix), isFullRange: frame.is_full_range != 0)
        reductions = (0..<kind.count).map { index in
            let (across, down) = index == 0 ? (1, 1) : (kind.across, kind.down)
            return PlaneReduction(across: across, down: down, visible: visible, level: level, tiles: tiles)
        }
        planes = .stacked(reductions.map { ($0.reducedSize, $0.region(of: visible)) }, bytesPerSample: bits > 8 ? 2 : 1)
        memory = try allocate(planes.byteCount)
        sums = try PlaneMemory(count: reductions.reduce(0) { $0 + $1.sumCount } * MemoryLayout<UInt32>.stride)
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
            let reduction = reductions[index]
            var (mosaic, source) = unsafe (mosaic(index), sources[index])
            let status = unsafe CCodedImages_add(
                &mosaic, &source, Int32(left / reduction.across - reduction.samples.x),
                Int32(top / reduction.down - reduction.samples.y))
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
        let reduction = reductions[index]
        let before = reductions.prefix(index).reduce(0) { $0 + $1.sumCount }
        let all = unsafe sums.bytes.assumingMemoryBound(to: UInt32.self).baseAddress
        return unsafe CCodedImagesMosaic(
            samples: memory.bytes.baseAddress?.advanced(by: plane.offset), is_wide: bits > 8 ? 1 : 0,
            stride: plane.stride, width: Int32(plane.size.width), height: Int32(plane.size.height),
            whole_width: Int32(reduction.samples.size.width), whole_height: Int32(reduction.samples.size.height),
            level: Int32(reduction.level), sums: reduction.sumCount > 0 ? all?.advanced(by: before) : nil,
            bits: Int32(frame.bits), is_spread: index == 0 && colors.isFullRange && frame.bits > 8 ? 1 : 0)
    }
}

/// The visible samples of one coded plane, and the level by which they are reduced.
private struct PlaneReduction {
    /// Luma samples per sample of this plane.
    let across, down: Int
    let level: Int
    let samples: PixelRectangle
    /// The number of sums for means; 0 if each mean can be computed immediately, because its samples are in one tile.
    let sumCount: Int

    var reducedSize: PixelSize { samples.size.reduced(by: level) }

    init(across: Int, down: Int, visible: PixelRectangle, level: Int, tiles: [HEIFPlacedItem]) {
        self.across = across
        self.down = down
        // Chroma that is subsampled on both axes is reduced by a smaller level.
        let level = max(1, level / min(across, down))
        let x = visible.x / across
        let y = visible.y / down
        let right = (visible.x + visible.size.width + across - 1) / across
        let bottom = (visible.y + visible.size.height + down - 1) / down
        let isOneTile = tiles.allSatisfy { tile in
            max(0, tile.left / across - x) % level == 0 && max(0, tile.top / down - y) % level == 0
        }
        self.level = level
        samples = PixelRectangle(x: x, y: y, size: PixelSize(width: right - x, height: bottom - y))
        sumCount = isOneTile ? 0 : samples.size.reduced(by: level).area
    }

    /// Returns the region of the reduced plane that the visible pixels fill.
    func region(of visible: PixelRectangle) -> Plane.Region {
        let (across, down, divisor) = (Double(across), Double(down), Double(level))
        return Plane.Region(
            left: (Double(visible.x) / across - Double(samples.x)) / divisor,
            top: (Double(visible.y) / down - Double(samples.y)) / divisor,
            width: Double(visible.size.width) / across / divisor, height: Double(visible.size.height) / down / divisor)
    }
}

private struct CodedItem {
    private let extents: [Range<Int>]
    private let parameters: Range<Int>?
    /// The operating point (scalable AV1).
    let point: Int

    var byteCount: Int { extents.reduce(0) { $0 + $1.count } }

    init(_ item: Int, of image: HEIFImage, in file: SharedBytes) throws(ImagingError) {
        (extents, parameters, point) = try file.withBytes { bytes throws(ImagingError) in
            guard let extents = try image.items.locations.extents(of: item, in: bytes) else {
                throw .cannotDecode(detail: "the data of an item are stored in an unsupported way")
            }
            let properties = try image.items.properties(of: item, in: bytes)
            var point = 0
            for case .operatingPoint(let number) in properties { point = min(number, 31) }
            return (extents, properties.parameters, point)
        }
    }

    /// Calls `body` with the data in one piece and the contents of the codec's parameter box, possibly empty.
    func withData(in file: SharedBytes, _ body: (RawSpan, RawSpan) throws -> Void) throws {
        try file.withBytes { bytes throws in
            let parameters = bytes.extracting(parameters ?? 0..<0)
            if extents.count == 1 { return try body(bytes.extracting(extents[0]), parameters) }
            try file.joined(extents).withBytes { try body($0, parameters) }
        }
    }
}
