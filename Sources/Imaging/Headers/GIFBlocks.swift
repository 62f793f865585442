/// The blocks of a GIF file (GIF89a specification), of which only the lengths are followed, as far as the file goes.
enum GIFBlocks {
    /// A block that says something of frames.
    enum Block {
        /// A graphic control extension with these flags.
        case control(flags: Int)
        /// A frame whose descriptor and data begin at these offsets; the data with the length of their first part.
        case frame(descriptor: Int, flags: Int, data: Int)
    }

    /// How the file ends.
    enum End {
        /// As it should.
        case trailer
        /// With something that is no block.
        case unknown(block: Int)
        /// Without a trailer, behind the frame that ends here or in something that is no frame.
        case missing(lastFrameEnd: Int)
        /// Within the data of its last frame, of which the part that has this length at its beginning is cut, or missing.
        case inFrame(part: Int)
    }

    /// Walks from block to block.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)`` where not even the head is whole, or what `body` throws.
    static func walk(_ bytes: RawSpan, _ body: (Block) throws(ImagingError) -> Void) throws(ImagingError) -> End {
        var offset = try 13 + tableLength(flags: bytes.byte(at: 10))
        var lastFrameEnd = offset
        while offset < bytes.byteCount {
            let part: (end: Int, isWhole: Bool)
            switch try bytes.byte(at: offset) {
            case 0x21:
                if (try? bytes.byte(at: offset + 1)) == 0xF9, let size = try? bytes.byte(at: offset + 2), size >= 4,
                    let flags = try? bytes.byte(at: offset + 3)
                {
                    try body(.control(flags: flags))
                }
                part = dataEnd(bytes, from: offset + 2)
                guard part.isWhole else { return .missing(lastFrameEnd: lastFrameEnd) }
            case 0x2C:
                guard let flags = try? bytes.byte(at: offset + 9),
                    case let data = offset + 11 + tableLength(flags: flags), data < bytes.byteCount
                else { return .missing(lastFrameEnd: lastFrameEnd) }
                try body(.frame(descriptor: offset, flags: flags, data: data))
                part = dataEnd(bytes, from: data)
                guard part.isWhole else { return .inFrame(part: part.end) }
                lastFrameEnd = part.end
            case 0x3B: return .trailer
            case let block: return .unknown(block: block)
            }
            offset = part.end
        }
        return .missing(lastFrameEnd: lastFrameEnd)
    }

    /// Bytes of the colour table that these flags announce.
    private static func tableLength(flags: Int) -> Int {
        flags & 0x80 == 0 ? 0 : 6 << (flags & 7)
    }

    /// The end of a chain of data parts, each led by its length, the last one empty; or where one begins that is not whole.
    private static func dataEnd(_ bytes: RawSpan, from start: Int) -> (end: Int, isWhole: Bool) {
        var offset = start
        while let length = try? bytes.byte(at: offset), offset + length < bytes.byteCount {
            if length == 0 { return (offset + 1, true) }
            offset += length + 1
        }
        return (offset, false)
    }
}
