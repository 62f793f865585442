import CPNG
import Coordination
import Memory
import Recipes

/// Decodes animations: libvips decodes each frame as a separate file, and our own code composes them.
enum PNGFrames {
    static func pixels(
        _ file: SharedBytes, header: ImageHeader, plan: DecodePlan, token: WorkToken
    ) throws -> DecodedPixels {
        let requestedFrames = plan.page..<plan.page + plan.frames(of: header)
        guard
            let animation = file.withBytes({
                PNGAnimation($0, size: header.storedSize, frameCount: requestedFrames.upperBound)
            }), animation.frames.count == requestedFrames.upperBound
        else { throw ImagingError.cannotDecode(detail: "the frames of the PNG file do not match its header") }
        let size = header.storedSize
        let parameters = file.withBytes { bytes in (24..<29).map { UInt8((try? bytes.byte(at: $0)) ?? 0) } }
        let trimmed = PNGTrimmer.trim(file)
        // Only one frame has the profile, which may be large.
        let shared = trimmed.chunksBeforeRows()
        let common = trimmed.chunksBeforeRows(without: "iCCP")
        var canvas = try Canvas(size: size, bands: header.bands)
        let result = try PlaneMemory(count: requestedFrames.count * canvas.byteCount)
        var profile: SharedBytes?
        for (index, frame) in animation.frames.enumerated() {
            try token.check()
            let still = try PNGRepair.withoutTrailingData(
                file.still(of: frame, parameters: parameters, shared: index == 0 ? shared : common), token: token)
            try unsafe still.withUnsafeBytes { bytes throws in
                let image = try unsafe VipsImage.loading(bytes, format: .png, options: VipsLoadOptions()).in8Bits()
                guard image.width == frame.size.width, image.height == frame.size.height else {
                    throw ImagingError.cannotDecode(
                        detail: "the size of a PNG frame does not match its frame control chunk")
                }
                if index == 0 { profile = image.profile }
                try canvas.put(image.pixels(token: token), bands: image.bands, as: frame)
            }
            if requestedFrames ~= index { canvas.copy(to: result, at: (index - plan.page) * canvas.byteCount) }
            canvas.dispose(of: frame)
        }
        let isStill = requestedFrames.count == 1
        return DecodedPixels(
            pixels: result.finish(), size: size, bands: header.bands, profile: profile,
            delays: isStill ? [] : animation.frames[requestedFrames].map(\.delay), loop: isStill ? 0 : animation.loop)
    }

    private struct Canvas: ~Copyable {
        let size: PixelSize
        let bands: Int
        private let pixels: PlaneMemory
        private var saved: PlaneMemory

        var byteCount: Int { size.area * bands }

        init(size: PixelSize, bands: Int) throws(ImagingError) {
            self.size = size
            self.bands = bands
            pixels = try PlaneMemory(count: size.area * bands)
            saved = PlaneMemory()
            unsafe pixels.bytes.initializeMemory(as: UInt8.self, repeating: 0)
        }

        private func rectangle(of frame: PNGAnimation.Frame) -> CPNGPart {
            unsafe CPNGPart(
                canvas: pixels.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), canvas_width: size.width,
                bands: Int32(bands), left: frame.left, top: frame.top, width: frame.size.width,
                height: frame.size.height)
        }

        mutating func put(_ rows: SharedBytes, bands: Int, as frame: PNGAnimation.Frame) throws {
            var rectangle = unsafe rectangle(of: frame)
            if frame.disposal == .previous {
                saved = try PlaneMemory(count: frame.size.area * self.bands)
                unsafe CPNG_save(&rectangle, saved.bytes.baseAddress)
            }
            unsafe rows.withUnsafeBytes {
                unsafe CPNG_put(&rectangle, $0.baseAddress, Int32(bands), frame.isBlended ? 1 : 0)
            }
        }

        func copy(to memory: borrowing PlaneMemory, at offset: Int) {
            let destination = unsafe UnsafeMutableRawBufferPointer(rebasing: memory.bytes[offset..<offset + byteCount])
            unsafe destination.copyMemory(from: UnsafeRawBufferPointer(pixels.bytes))
        }

        func dispose(of frame: PNGAnimation.Frame) {
            var rectangle = unsafe rectangle(of: frame)
            switch frame.disposal {
            case .none: break
            case .background: unsafe CPNG_clear(&rectangle)
            case .previous: unsafe CPNG_put(&rectangle, saved.bytes.baseAddress, Int32(bands), 0)
            }
        }
    }
}

extension SharedBytes {
    fileprivate func chunksBeforeRows(without dropped: StaticString = "IDAT") -> SharedBytes {
        var kept: [Range<Int>] = []
        withBytes { bytes in
            var chunks = PNGChunks()
            while let chunk = chunks.next(in: bytes), !bytes.hasText("IDAT", at: chunk.type),
                chunk.range.upperBound <= count
            {
                if !bytes.hasText("IHDR", at: chunk.type), !bytes.hasText(dropped, at: chunk.type) {
                    kept.append(chunk.range)
                }
            }
        }
        return joined(kept)
    }

    /// - Parameters:
    ///   - parameters: The bytes of `IHDR` after width and height.
    ///   - shared: The chunks before the rows.
    fileprivate func still(of frame: PNGAnimation.Frame, parameters: [UInt8], shared: SharedBytes) -> SharedBytes {
        var result = ByteAccumulator(reservingCapacity: frame.data.reduce(shared.count + 64) { $0 + 12 + $1.count })
        result.append(PNGChunks.signature)
        let width = UInt32(frame.size.width)
        let height = UInt32(frame.size.height)
        result.append(chunk: "IHDR", width.bigEndianBytes() + height.bigEndianBytes() + parameters)
        result.append(shared)
        unsafe withUnsafeBytes { bytes in
            for range in frame.data {
                unsafe result.append(chunk: "IDAT", UnsafeRawBufferPointer(rebasing: bytes[range]))
            }
        }
        result.append(chunk: "IEND", [])
        return result.finish()
    }
}
