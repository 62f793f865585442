import CCodedImages
import CPixels
import Coordination
import Memory
import Recipes

struct HEIFPixels {
    private let file: SharedBytes
    private let items: HEIFItems
    private let token: WorkToken

    init(_ items: HEIFItems, in file: SharedBytes, token: WorkToken) {
        self.items = items
        self.file = file
        self.token = token
    }

    /// Decodes at full size, cropped and turned as the file specifies.
    ///
    /// - Parameters:
    ///   - hasAlpha: Whether areas without a layer may be transparent.
    ///   - keepsBits: Whether to keep more than 8 bits, unless there are layers.
    func load(_ item: Int, hasAlpha: Bool, keepsBits: Bool, depth: Int = 0) throws -> DecodedPixels {
        guard depth < HEIFWork.maximumDepth else {
            throw ImagingError.cannotDecode(detail: "layers are nested too deep")
        }
        let image = try file.withBytes { bytes throws(ImagingError) in try HEIFImage(bytes, of: item, in: items) }
        if let image { return try load(image, keepsBits: keepsBits) }
        let shown = items.shown(item)
        let (layers, transform, profile) = try file.withBytes { bytes throws(ImagingError) in
            guard let layers = try HEIFLayers(bytes, of: shown, in: items),
                try layers.size == items.size(of: shown, in: bytes),
                max(layers.size.width, layers.size.height) <= HEIFImage.longestSide
            else { throw .cannotDecode(detail: "an item has an unsupported type") }
            return (
                layers, try items.transform(of: item, in: bytes), try items.properties(of: shown, in: bytes).profile
            )
        }
        let bands = hasAlpha ? 4 : 3
        let memory = try PlaneMemory(count: layers.size.area * bands)
        unsafe memory.bytes.fill(with: layers.background.prefix(bands))
        var background = unsafe CCodedImagesPixels(memory.bytes.baseAddress, size: layers.size, bands: bands)
        for layer in layers.layers {
            try token.check()
            guard Self.locations ~= layer.left, Self.locations ~= layer.top else { continue }
            let above = try load(layer.item, hasAlpha: true, keepsBits: false, depth: depth + 1)
            unsafe above.pixels.withUnsafeBytes { bytes in
                var layerPixels = unsafe CCodedImagesPixels(
                    UnsafeMutableRawPointer(mutating: bytes.baseAddress), size: above.size, bands: above.bands)
                unsafe CCodedImages_composite(&background, &layerPixels, Int32(layer.left), Int32(layer.top))
            }
        }
        return DecodedPixels(
            pixels: try upright(
                memory, of: layers.size, transform: transform, showing: transform.visible, bytes: bands),
            size: transform.shownSize, bands: bands, profile: file.profile(at: profile))
    }

    /// The positions at which a layer can overlap the image.
    private static let locations = -HEIFImage.longestSide...HEIFImage.longestSide

    private func load(_ image: HEIFImage, keepsBits: Bool) throws -> DecodedPixels {
        let keepsBits = keepsBits || image.colors?.matrix == HEIFColors.reversible
        func decode(_ canvas: HEIFCanvas, maximumPlanes: Int) throws -> CodedPlanes {
            try CodedPlanes.decode(
                canvas, of: image, in: file, level: 1, maximumPlanes: maximumPlanes, keepsBits: keepsBits, token: token,
                allocate: { try PlaneMemory(count: $0) })
        }
        let decoded = try decode(image.canvas, maximumPlanes: 3)
        let alpha = try image.alpha.map { try decode($0, maximumPlanes: 1) }
        guard let colors = decoded.codedColors(declared: image.colors) else {
            throw ImagingError.cannotDecode(detail: "the image has unknown colors")
        }
        let bands = decoded.planes.count + (alpha == nil ? 0 : 1)
        let has16Bits = decoded.bits > 8
        let size = image.transform.visible.size
        let memory = try PlaneMemory(count: size.area * bands * (has16Bits ? 2 : 1))
        // HEVC streams without a range count as limited, but programs treat their alpha as full range.
        let isAlphaFull = alpha.map { image.alpha?.coding == .hevc || $0.colors.isFullRange } ?? true
        try colors.interleave(decoded, alpha: alpha, isAlphaFull: isAlphaFull, into: memory)
        if alpha != nil, image.isPremultiplied {
            unsafe CCodedImages_divide_by_alpha(memory.bytes.baseAddress, Int32(bands), size.area, has16Bits ? 1 : 0)
        }
        return DecodedPixels(
            pixels: try upright(
                memory, of: size, transform: image.transform, showing: PixelRectangle(size: size),
                bytes: bands * (has16Bits ? 2 : 1)),
            size: image.transform.shownSize, bands: bands, profile: file.profile(at: image.profile),
            has16Bits: has16Bits)
    }

    private func upright(
        _ pixels: consuming PlaneMemory, of size: PixelSize, transform: HEIFTransform,
        showing visible: PixelRectangle, bytes: Int
    ) throws -> SharedBytes {
        if transform.turn == .none, visible.size == size { return pixels.finish() }
        let result = try PlaneMemory(count: visible.size.area * bytes)
        let first = unsafe pixels.bytes.baseAddress?.advanced(by: (visible.y * size.width + visible.x) * bytes)
        var from = unsafe CPixelsFrame(first, size: visible.size, stride: size.width * bytes, bands: bytes)
        let turned = transform.shownSize
        var to = unsafe CPixelsFrame(result.bytes.baseAddress, size: turned, bands: bytes)
        var turn = CPixelsTurn(orientation: Int32(transform.turn.exif))
        let watch = unsafe CPixelsWatch(token)
        guard unsafe CPixels_turn(&turn, &from, &to, watch) == 0 else {
            try token.check()
            throw ImagingError.cannotDecode(detail: "the image cannot be turned")
        }
        return result.finish()
    }
}

extension CCodedImagesPixels {
    @unsafe
    fileprivate init(_ pixels: UnsafeMutableRawPointer?, size: PixelSize, bands: Int) {
        unsafe self.init(
            pixels: pixels?.assumingMemoryBound(to: UInt8.self), width: Int32(size.width), height: Int32(size.height),
            bands: Int32(bands))
    }
}

extension UnsafeMutableRawBufferPointer {
    @unsafe
    fileprivate func fill(with values: some Collection<UInt8>) {
        var offset = 0
        while offset < count {
            for value in values {
                unsafe self[offset] = value
                offset += 1
            }
        }
    }
}
