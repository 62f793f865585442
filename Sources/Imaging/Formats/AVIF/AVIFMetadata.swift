import Memory
import Recipes

/// Adds an XMP packet to a file that the service encoded (ISO/IEC 23008-12 section A.3).
enum AVIFMetadata {
    private static let contentType = AVIFBox.letters("application/rdf+xml\0")

    /// Appends the packet to the file, and corrects the offsets of data that move because boxes grow.
    static func withPacket(_ file: SharedBytes, packet: [UInt8]) -> SharedBytes {
        file.withBytes { bytes in
            guard let meta = boxRange(of: "meta", in: bytes, at: 0..<bytes.byteCount),
                let old = try? metaBox(bytes, meta: meta, packetAt: 0, growth: 0, count: packet.count)
            else { return file }
            let growth = old.count - meta.count
            let start = bytes.byteCount + growth + 8
            guard let box = try? metaBox(bytes, meta: meta, packetAt: start, growth: growth, count: packet.count) else {
                return file
            }
            var result = bytes.array(0..<meta.lowerBound) + box + bytes.array(meta.upperBound..<bytes.byteCount)
            moveChunks(in: &result, by: growth)
            return SharedBytes(result + AVIFBox.box("mdat", packet))
        }
    }

    /// Returns the range of a box including its header.
    private static func boxRange(of type: StaticString, in bytes: RawSpan, at range: Range<Int>) -> Range<Int>? {
        var boxes = BoxCursor(range)
        guard let contents = try? boxes.next(of: BoxCursor.type(type), in: bytes)?.contents else { return nil }
        return contents.lowerBound - 8..<contents.upperBound
    }

    private static func metaBox(
        _ bytes: RawSpan, meta: Range<Int>, packetAt start: Int, growth: Int, count: Int
    ) throws(ImagingError) -> [UInt8] {
        var contents = bytes.array(meta.dropFirst(8).prefix(4))
        var boxes = BoxCursor(meta.dropFirst(12))
        var hasReferences = false
        var item = 0
        let reference = { AVIFBox.box("cdsc", AVIFBox.words(item, 1, 1)) }
        while let box = try boxes.next(in: bytes) {
            let range = box.contents
            switch box.type {
            case BoxCursor.type("iloc"):
                item = try bytes.bigEndian16(at: range.lowerBound + 6) + 1
                var entries = AVIFBox.words(item)
                for index in 0..<item - 1 {
                    let entry = range.lowerBound + 8 + index * 14
                    entries += bytes.array(entry..<entry + 6)
                    entries += try AVIFBox.longs(
                        bytes.bigEndian32(at: entry + 6) + growth, bytes.bigEndian32(at: entry + 10))
                }
                entries += AVIFBox.words(item, 0, 1) + AVIFBox.longs(start, count)
                contents += AVIFBox.full("iloc", [0x44, 0], entries)
            case BoxCursor.type("iinf"):
                let entry = AVIFBox.full(
                    "infe", version: 2, AVIFBox.words(item, 0), AVIFBox.letters("mime"), [0], contentType)
                contents += AVIFBox.full("iinf", AVIFBox.words(item), bytes.array(range.dropFirst(6)), entry)
            case BoxCursor.type("iref"):
                hasReferences = true
                contents += AVIFBox.full("iref", bytes.array(range.dropFirst(4)), reference())
            case BoxCursor.type("iprp"):
                if !hasReferences { contents += AVIFBox.full("iref", reference()) }
                contents += bytes.array(range.lowerBound - 8..<range.upperBound)
            default: contents += bytes.array(range.lowerBound - 8..<range.upperBound)
            }
        }
        return AVIFBox.box("meta", contents)
    }

    /// Moves the offsets of a sequence's frames in the tables of its tracks.
    private static func moveChunks(in file: inout [UInt8], by growth: Int) {
        let tables = SharedBytes(file).withBytes { bytes in
            var tables: [Range<Int>] = []
            func walk(_ range: Range<Int>) {
                var boxes = BoxCursor(range)
                while let box = try? boxes.next(in: bytes) {
                    switch box.type {
                    case BoxCursor.type("moov"), BoxCursor.type("trak"), BoxCursor.type("mdia"),
                        BoxCursor.type("minf"), BoxCursor.type("stbl"):
                        walk(box.contents)
                    case BoxCursor.type("stco"): tables.append(box.contents.dropFirst(8))
                    default: break
                    }
                }
            }
            walk(0..<bytes.byteCount)
            return tables
        }
        for table in tables {
            for entry in stride(from: table.lowerBound, to: table.upperBound - 3, by: 4) {
                let offset = file[entry..<entry + 4].reduce(0) { $0 << 8 | Int($1) }
                file.replaceSubrange(entry..<entry + 4, with: AVIFBox.longs(offset + growth))
            }
        }
    }
}
