import CVipsShim
import Memory
import Recipes

enum PNGFormat {
    static let codec = FormatCodec(
        decoding: .init(
            leadingBytes: .signatures([[0: PNGChunks.signature]]),
            header: { bytes throws(ImagingError) in try PNGHeader.read(bytes) },
            loader: .vips(unsafe VipsLoader(className: "VipsForeignLoadPngBuffer", open: CVipsShim_load_png)),
            quickLoader: {
                try PNGPixels.decode($0, header: $1, plan: $2, token: $3, allocate: $4)
            },
            frames: { try PNGFrames.pixels($0, header: $1, plan: $2, token: $3) },
            warmUp: .written(bands: 4),
            trim: { file, header, plan throws(ImagingError) in
                plan.needsFrames(of: header) ? file : PNGTrimmer.trim(file)
            },
            damage: .init(
                withoutTrailingData: { try PNGRepair.withoutTrailingData($0, token: $1) },
                repairAfterFailure: { file, _, plan, token in try PNGRepair.repair(file, plan: plan, token: token) }),
            metadata: { PNGMetadata.read($0) }, outline: PNGHeader.outline),
        encoding: .init(
            saver: .png, attribute: withEXIF,
            addPacket: { file, packet, _ in PNGMetadata.withPacket(file, packet: packet) }, addProfile: withDisplayP3))

    static func withEXIF(_ file: SharedBytes, exif: [UInt8], size: PixelSize) -> SharedBytes {
        file.inserting(chunk: "eXIf", exif)
    }

    /// Adds a Display P3 profile in stored zlib blocks (RFC 1950).
    static func withDisplayP3(_ file: SharedBytes, size: PixelSize) -> SharedBytes {
        guard hasColors(file) else { return file }
        let profile = ColorProfile.displayP3File
        let lengths = [profile.count, ~profile.count].flatMap { $0.littleEndianBytes(2) }
        let (low, high) = profile.reduce((UInt32(1), UInt32(0))) { sums, byte in
            let low = (sums.0 + UInt32(byte)) % 65_521
            return (low, (sums.1 + low) % 65_521)
        }
        let content =
            Array("Display P3\0\0".utf8) + [0x78, 1, 1] + lengths + profile + (high << 16 | low).bigEndianBytes()
        return file.inserting(chunk: "iCCP", content)
    }

    /// Returns whether the file has colors: color types 2 and 6, and palettes (3) that are not all gray.
    ///
    /// Gray is the same in all gamuts.
    private static func hasColors(_ file: SharedBytes) -> Bool {
        file.withBytes { bytes in
            guard let kind = try? bytes.byte(at: 25) else { return false }
            guard kind == 3 else { return kind & 2 != 0 }
            var chunks = PNGChunks()
            while let chunk = chunks.next(in: bytes) {
                guard bytes.hasText("PLTE", at: chunk.type) else { continue }
                return stride(from: chunk.data.lowerBound, to: chunk.data.upperBound - 2, by: 3).contains { offset in
                    let color = (0..<3).map { try? bytes.byte(at: offset + $0) }
                    return color[0] != color[1] || color[0] != color[2]
                }
            }
            return true
        }
    }
}
