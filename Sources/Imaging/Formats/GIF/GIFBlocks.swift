import Recipes

/// Walks the blocks of a file by their lengths (GIF89a).
enum GIFBlocks {
    enum Block {
        /// A graphic control extension: the flags of the next frame, and their offset.
        case control(flags: Int, offset: Int)
        /// A frame: the offset of its descriptor, and of its data, which begin with the length of the first sub-block.
        case frame(descriptor: Int, flags: Int, data: Int)
        /// An application extension: the length, the identifier and the data.
        case application(Range<Int>)
    }

    enum End {
        /// The trailer; the last frame ends before it.
        case trailer(lastFrameEnd: Int)
        case unknown(block: Int, lastFrameEnd: Int)
        /// The file ends without a trailer, after the last frame or within a block that is not a frame.
        case missing(lastFrameEnd: Int)
        /// The file ends within the data of the last frame: the sub-block at this offset is truncated or missing.
        case inFrame(subBlock: Int)
    }

    /// The maximum number of blocks and sub-blocks of a file; most sub-blocks have 255 bytes.
    private static let maximum = 4_000_000

    static func walk(_ bytes: RawSpan, _ body: (Block) throws(ImagingError) -> Void) throws(ImagingError) -> End {
        var offset = try 13 + tableLength(flags: bytes.byte(at: 10))
        var lastFrameEnd = offset
        var rest = maximum
        while offset < bytes.byteCount {
            let data: (end: Int, isWhole: Bool)
            switch try bytes.byte(at: offset) {
            case 0x21:
                if (try? bytes.byte(at: offset + 1)) == 0xF9, let size = try? bytes.byte(at: offset + 2), size >= 4,
                    let flags = try? bytes.byte(at: offset + 3)
                {
                    try body(.control(flags: flags, offset: offset + 3))
                }
                data = try dataEnd(bytes, from: offset + 2, blocksLeft: &rest)
                guard data.isWhole else { return .missing(lastFrameEnd: lastFrameEnd) }
                if (try? bytes.byte(at: offset + 1)) == 0xFF { try body(.application(offset + 2..<data.end)) }
            case 0x2C:
                guard let flags = try? bytes.byte(at: offset + 9),
                    case let start = offset + 11 + tableLength(flags: flags), start < bytes.byteCount
                else { return .missing(lastFrameEnd: lastFrameEnd) }
                try body(.frame(descriptor: offset, flags: flags, data: start))
                data = try dataEnd(bytes, from: start, blocksLeft: &rest)
                guard data.isWhole else { return .inFrame(subBlock: data.end) }
                lastFrameEnd = data.end
            case 0x3B: return .trailer(lastFrameEnd: lastFrameEnd)
            case let block: return .unknown(block: block, lastFrameEnd: lastFrameEnd)
            }
            offset = data.end
        }
        return .missing(lastFrameEnd: lastFrameEnd)
    }

    private static func tableLength(flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 6 << (flags & 7) }

    /// Returns the end of a chain of sub-blocks, or the start of the first truncated one.
    private static func dataEnd(
        _ bytes: RawSpan, from start: Int, blocksLeft rest: inout Int
    ) throws(ImagingError) -> (end: Int, isWhole: Bool) {
        var offset = start
        while let length = try? bytes.byte(at: offset), offset + length < bytes.byteCount {
            rest -= 1
            guard rest >= 0 else { throw .cannotDecode(detail: "the GIF file has too many blocks") }
            if length == 0 { return (offset + 1, true) }
            offset += length + 1
        }
        return (offset, false)
    }
}
