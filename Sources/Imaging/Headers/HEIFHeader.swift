extension ImageHeader {
    /// The head of an AVIF or HEIC file (ISO/IEC 23008-12): the properties of its primary item.
    static func heif(_ bytes: RawSpan, format: ImageFormat) throws(ImagingError) -> ImageHeader {
        var boxes = BoxCursor(0..<bytes.byteCount)
        while let box = try boxes.next(in: bytes) {
            guard box.type == BoxCursor.type("meta") else { continue }
            return try HEIFItems(bytes, meta: box.contents).header(format: format)
        }
        throw .cannotDecode(detail: "a HEIF file without items")
    }
}

/// The items of a file, as far as its primary one is concerned.
private struct HEIFItems {
    private var primary: Int?
    private var properties: [HEIFProperty] = []
    /// Which properties the primary item has, as positions from 1, in the order in which they apply.
    private var positions: [Int] = []

    init(_ bytes: RawSpan, meta: Range<Int>) throws(ImagingError) {
        guard meta.count >= 4 else { throw .cannotDecode(detail: "an empty box of items") }
        var primaryBoxes = BoxCursor(meta.dropFirst(4))
        while primary == nil, let box = try primaryBoxes.next(in: bytes) {
            guard box.type == BoxCursor.type("pitm") else { continue }
            let version = try bytes.byte(at: box.contents.lowerBound)
            let offset = box.contents.lowerBound + 4
            primary = try version == 0 ? bytes.bigEndian16(at: offset) : bytes.bigEndian32(at: offset)
        }
        var boxes = BoxCursor(meta.dropFirst(4))
        while let box = try boxes.next(in: bytes) {
            guard box.type == BoxCursor.type("iprp") else { continue }
            try readProperties(bytes, in: box.contents)
        }
    }

    private mutating func readProperties(_ bytes: RawSpan, in range: Range<Int>) throws(ImagingError) {
        var boxes = BoxCursor(range)
        while let box = try boxes.next(in: bytes) {
            if box.type == BoxCursor.type("ipma") {
                try readAssociations(bytes, in: box.contents)
            } else if box.type == BoxCursor.type("ipco") {
                var contents = BoxCursor(box.contents)
                while let property = try contents.next(in: bytes) {
                    // Positions have 15 bits.
                    guard properties.count < 1 << 15 else { throw .cannotDecode(detail: "too many item properties") }
                    properties.append(try HEIFProperty(bytes, property))
                }
            }
        }
    }

    private mutating func readAssociations(_ bytes: RawSpan, in range: Range<Int>) throws(ImagingError) {
        let head = try bytes.bigEndian32(at: range.lowerBound)
        let hasLongItems = head >> 24 > 0
        let hasLongPositions = head & 1 == 1
        let count = try bytes.bigEndian32(at: range.lowerBound + 4)
        var offset = range.lowerBound + 8
        for _ in 0..<count {
            guard offset < range.upperBound else { throw .cannotDecode(detail: "item properties cut short") }
            let item = try hasLongItems ? bytes.bigEndian32(at: offset) : bytes.bigEndian16(at: offset)
            offset += hasLongItems ? 4 : 2
            let count = try bytes.byte(at: offset)
            let width = hasLongPositions ? 2 : 1
            offset += 1
            if item == primary {
                guard positions.isEmpty else { throw .cannotDecode(detail: "an item with two lists of properties") }
                for index in 0..<count {
                    let position =
                        try hasLongPositions
                        ? bytes.bigEndian16(at: offset + 2 * index) & 0x7FFF : bytes.byte(at: offset + index) & 0x7F
                    positions.append(position)
                }
            }
            offset += count * width
        }
    }

    func header(format: ImageFormat) throws(ImagingError) -> ImageHeader {
        // Alpha is an item of its own beside the primary one; that some item is alpha is enough to know.
        let hasAlpha = properties.contains(.alpha)
        var size: PixelSize?
        var turn = Turn()
        var depths = [8, 8, 8]
        var profileByteCount = 0
        for position in positions where properties.indices.contains(position - 1) {
            switch properties[position - 1] {
            case .size(let value): size = value
            case .aperture(let value):
                size = turn.isSideways ? PixelSize(width: value.height, height: value.width) : value
            case .rotation(let quarters): turn.rotate(counterclockwise: quarters)
            case .mirror(let isLeftToRight): turn.mirror(leftToRight: isLeftToRight)
            case .depths(let values): depths = values
            case .profile(let count): profileByteCount = count
            case .coding, .alpha, .other: break
            }
        }
        // A grid's tiles are items of their own, coded as none of the grid's properties say.
        let codings = properties.compactMap { property in
            if case .coding(let depth, let isSubsampled) = property {
                (depth: depth, isSubsampled: isSubsampled)
            } else {
                nil
            }
        }
        let bands = depths.count < 3 ? 1 : 3
        depths += codings.map(\.depth)
        guard let size, size.width > 0, size.height > 0, let depth = depths.max() else {
            throw .cannotDecode(detail: "a HEIF file whose primary item has no size")
        }
        return ImageHeader(
            format: format, storedSize: size, orientation: turn.orientation,
            bands: bands + (hasAlpha ? 1 : 0), bitDepth: depth, hasAlpha: hasAlpha,
            isChromaSubsampled: !codings.isEmpty && codings.allSatisfy(\.isSubsampled),
            profileByteCount: profileByteCount)
    }
}
