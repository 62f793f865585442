import CVipsShim
import Memory
import Recipes

enum PNGFormat {
    static let codec = FormatCodec(
        decoding: .init(
            leadingBytes: .parts([[0: pngSignature]]),
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
                withoutSurplus: { try PNGRepair.withoutSurplus($0, token: $1) },
                repairAfterFailure: { file, _, plan, token in try PNGRepair.repair(file, plan: plan, token: token) }),
            metadata: { PNGMetadata.parts($0) }, outline: PNGHeader.outline),
        encoding: .init(
            saver: .png, attribute: withEXIF,
            addPacket: { file, packet, _ in PNGMetadata.withPacket(file, packet: packet) },
            addProfile: withDisplayP3))

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

    /// Whether the file has colors: color types 2 and 6, and palettes (3) that are not all gray.
    ///
    /// Gray is the same in all gamuts.
    private static func hasColors(_ file: SharedBytes) -> Bool {
        file.withBytes { bytes in
            guard let kind = try? bytes.byte(at: 25) else { return false }
            guard kind == 3 else { return kind & 2 != 0 }
            var chunks = PNGChunks()
            while let chunk = chunks.next(in: bytes) {
                guard bytes.hasText("PLTE", at: chunk.type) else { continue }
                return stride(from: chunk.data.lowerBound, to: chunk.data.upperBound - 2, by: 3).contains { place in
                    let color = (0..<3).map { try? bytes.byte(at: place + $0) }
                    return color[0] != color[1] || color[0] != color[2]
                }
            }
            return true
        }
    }
}

enum PNGMetadata {
    private static let keyword: StaticString = "XML:com.adobe.xmp\0"

    static func parts(_ bytes: RawSpan, skipsData: Bool = false) -> MetadataParts {
        var parts = MetadataParts()
        var chunks = PNGChunks(skipsData: skipsData)
        while let chunk = chunks.next(in: bytes), !bytes.hasText("IEND", at: chunk.type) {
            if bytes.hasText("iTXt", at: chunk.type) {
                readText(bytes, in: chunk.data, into: &parts)
            } else if bytes.hasText("caBX", at: chunk.type) {
                parts.hasManifest = true
            }
        }
        return parts
    }

    /// Reads `iTXt` (W3C PNG section 11.3.3.4): compression, language and translated keyword precede the text.
    private static func readText(_ bytes: RawSpan, in data: Range<Int>, into parts: inout MetadataParts) {
        guard bytes.hasText(keyword, at: data.lowerBound) else { return }
        let start = data.lowerBound + keyword.utf8CodeUnitCount
        guard let isCompressed = try? bytes.byte(at: start),
            let language = bytes.firstIndex(of: 0, from: start + 2),
            let name = bytes.firstIndex(of: 0, from: language + 1), name < data.upperBound
        else { return }
        let text = name + 1..<data.upperBound
        guard isCompressed != 0 else { return parts.addPacket(bytes, at: text) }
        let inflated = Inflation.prefix(of: bytes.extracting(text), maximum: MetadataParts.longestPacket / 4)
        unsafe parts.addPacket(inflated.span.bytes, at: 0..<inflated.count)
    }

    static func withPacket(_ file: SharedBytes, packet: [UInt8]) -> SharedBytes {
        file.inserting(chunk: "iTXt", Array("\(keyword)".utf8) + [0, 0, 0, 0] + packet)
    }
}
