import Memory
import Recipes

enum JXLContainer {
    /// The first box of a container.
    static let signature: [UInt8] = [0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]

    /// Returns the codestream, without a copy if it is in one box; the whole file if the container is damaged.
    static func codestream(in file: SharedBytes) -> SharedBytes {
        guard let fragments = try? file.withBytes({ bytes throws(ImagingError) in try fragments(bytes) }) else {
            return file
        }
        if fragments.count == 1 { return SharedBytes(fragments[0], of: file) }
        var joined = ByteAccumulator(reservingCapacity: fragments.byteCount)
        for fragment in fragments {
            unsafe file.withUnsafeBytes { unsafe joined.append(UnsafeRawBufferPointer(rebasing: $0[fragment])) }
        }
        return joined.finish()
    }

    private static let maximumFragments = 4_096

    static func fragments(_ bytes: RawSpan) throws(ImagingError) -> [Range<Int>] {
        guard bytes.hasBytes(signature, at: 0) else { return [0..<bytes.byteCount] }
        var boxes = BoxCursor(0..<bytes.byteCount, mayBeCut: true)
        var fragments: [Range<Int>] = []
        while let box = try boxes.next(in: bytes) {
            switch box.type {
            case BoxCursor.type("jxlc"): return fragments + [box.contents]
            // Each fragment begins with its index.
            case BoxCursor.type("jxlp"):
                guard fragments.count < maximumFragments else {
                    throw .cannotDecode(detail: "the codestream is in more than \(maximumFragments) fragments")
                }
                fragments.append(box.contents.dropFirst(4))
            default: continue
            }
        }
        return fragments
    }

    static func bytes(_ file: RawSpan, fragments: [Range<Int>], from offset: Int, maximum: Int) -> [UInt8] {
        var skipped = 0
        var bytes = [UInt8]()
        for fragment in fragments where bytes.count < maximum {
            let rest = fragment.dropFirst(max(0, offset - skipped)).prefix(maximum - bytes.count)
            unsafe file.extracting(rest.clamped(to: 0..<file.byteCount)).withUnsafeBytes {
                unsafe bytes.append(contentsOf: $0)
            }
            skipped += fragment.count
        }
        return bytes
    }

    /// The maximum number of boxes to search for EXIF data.
    private static let maximumBoxes = 10_000

    /// Reads EXIF texts, but not from Brotli-compressed boxes (`brob`); damage affects only the texts.
    static func texts(_ bytes: RawSpan) -> EXIFTexts? {
        guard bytes.hasBytes(signature, at: 0) else { return nil }
        var boxes = BoxCursor(0..<bytes.byteCount, mayBeCut: true)
        for _ in 0..<maximumBoxes {
            guard let box = try? boxes.next(in: bytes) else { return nil }
            if box.type == BoxCursor.type("Exif") { return EXIFTexts(offset: bytes, range: box.contents) }
        }
        return nil
    }
}

extension JXLContainer {
    /// Finds metadata, but not in Brotli-compressed boxes.
    static func metadata(_ bytes: RawSpan) -> EmbeddedMetadata {
        var metadata = EmbeddedMetadata()
        guard bytes.hasBytes(signature, at: 0) else { return metadata }
        var boxes = BoxCursor(0..<bytes.byteCount, mayBeCut: true)
        for _ in 0..<maximumBoxes {
            guard let box = try? boxes.next(in: bytes) else { break }
            if box.type == BoxCursor.type("xml ") { metadata.addPacket(bytes, at: box.contents) }
            if box.type == BoxCursor.type("jumb") { metadata.readManifest(bytes, at: box.contents) }
        }
        return metadata
    }

    static func withPacket(_ file: SharedBytes, packet: [UInt8]) -> SharedBytes {
        func box(_ type: String, _ count: Int) -> [UInt8] { (count + 8).bigEndianBytes(4) + Array(type.utf8) }
        let metadata = box("xml ", packet.count) + packet
        let isContainer = file.withBytes { $0.hasBytes(signature, at: 0) }
        guard !isContainer else { return file.replacing(file.count..<file.count, with: SharedBytes(metadata)) }
        let start = signature + box("ftyp", 12) + Array("jxl \0\0\0\0jxl ".utf8) + box("jxlc", file.count)
        return file.replacing(file.count..<file.count, with: SharedBytes(metadata))
            .replacing(0..<0, with: SharedBytes(start))
    }
}
