/// Modifies AVIF files in ways that encoders do not offer.
package enum AVIFWriter {
    /// Inserts metadata of a private type behind the sequence header of the first item.
    ///
    /// Types 6 to 31 are private (AV1 section 6.7.1); decoders skip them. The file must be as libheif writes it:
    /// boxes with 32-bit sizes, and the items' offsets in `iloc`.
    package static func withPrivateMetadata(_ file: [UInt8], type: UInt8 = 31) -> [UInt8] {
        // An OBU with a size: metadata, five bytes; the first is its type and the last the trailing bits.
        let part: [UInt8] = [5 << 3 | 2, 5, type, 1, 2, 3, 0x80]
        var bytes = file
        let item = items(of: file)[0]
        var place = item.offset
        // Skip the temporal delimiter and the sequence header.
        while [1, 2].contains(file[place] >> 3 & 15) { place += 2 + Int(file[place + 1]) }
        precondition(place < item.offset + item.length, "the item holds no frame")
        for other in items(of: file) where other.offset > item.offset {
            bytes.put(file.number(other.baseField) + part.count, at: other.baseField)
        }
        bytes.put(item.length + part.count, at: item.lengthField)
        let box = position(of: "mdat", in: file)
        bytes.put(file.number(4, at: box) + part.count, at: box..<box + 4)
        bytes.insert(contentsOf: part, at: place)
        return bytes
    }

    /// Range of the first item's AV1 data.
    package static func firstItem(of file: [UInt8]) -> Range<Int> {
        let item = items(of: file)[0]
        return item.offset..<item.offset + item.length
    }

    /// The only extent of an item, and the place of its offset and length in the file.
    private struct Item {
        var offset, length: Int
        var baseField, lengthField: Range<Int>
    }

    private static func items(of file: [UInt8]) -> [Item] {
        var at = position(of: "iloc", in: file) + 8
        func take(_ count: Int) -> Range<Int> {
            defer { at += count }
            return at..<at + count
        }
        let version = file.number(take(4)) >> 24
        let sizes = file.number(take(2))
        let (offsetSize, lengthSize, baseSize, indexSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15, sizes & 15)
        let count = file.number(take(version < 2 ? 2 : 4))
        return (0..<count).map { _ in
            _ = take((version < 2 ? 2 : 4) + (version > 0 ? 2 : 0) + 2)
            let base = take(baseSize)
            precondition(file.number(take(2)) == 1, "not as libheif writes it")
            _ = take(version > 0 ? indexSize : 0)
            let (offset, length) = (take(offsetSize), take(lengthSize))
            return Item(
                offset: file.number(base) + file.number(offset), length: file.number(length), baseField: base,
                lengthField: length)
        }
    }

    /// Offset of the first box of this type.
    private static func position(of type: String, in file: [UInt8]) -> Int {
        guard let name = file.firstRange(of: Array(type.utf8)) else { preconditionFailure("no \(type)") }
        return name.lowerBound - 4
    }
}

extension [UInt8] {
    fileprivate func number(_ range: Range<Int>) -> Int { self[range].reduce(0) { $0 << 8 | Int($1) } }

    fileprivate func number(_ count: Int, at start: Int) -> Int { number(start..<start + count) }

    /// Overwrites a number of the same size.
    fileprivate mutating func put(_ number: Int, at range: Range<Int>) {
        for (index, place) in range.reversed().enumerated() {
            self[place] = UInt8(truncatingIfNeeded: number >> (8 * index))
        }
    }
}
