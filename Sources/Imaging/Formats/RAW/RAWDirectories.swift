import Recipes

/// The directories of a file: a chain and its subdirectories, each once.
struct RAWDirectories {
    private(set) var all: [RAWDirectory] = []
    private var seen: Set<Int> = []

    private static let maximum = 32
    private static let maximumChildren = 8
    private static let deepest = 2

    /// Adds a chain of directories; stops at damage.
    mutating func addChain(at address: Int, isLittleEndian: Bool, depth: Int = 0, in bytes: RawSpan) {
        var address = address
        while address != 0, all.count < Self.maximum, seen.insert(address).inserted,
            let directory = try? RAWDirectory(at: address, base: 0, isLittleEndian: isLittleEndian, in: bytes)
        {
            all.append(directory)
            if depth < Self.deepest {
                for child in directory.numbers(RAWDirectory.Tag.children, atMost: Self.maximumChildren, in: bytes) {
                    addChain(at: child, isLittleEndian: isLittleEndian, depth: depth + 1, in: bytes)
                }
            }
            address = directory.next
        }
    }

    /// Whether there are sensor data; programs of camera makers also write TIFF files with the camera's name.
    var isRAW: Bool {
        guard let first = all.first else { return false }
        return first.has(RAWDirectory.Tag.version) || first.has(EXIFDirectory.make) && all.contains(where: \.hasSamples)
    }
}

extension RAWDirectory {
    /// Photometric interpretations of sensor data: color filter array (TIFF/EP), linear raw (DNG 1.7).
    private static let kinds: Set<Int> = [32_803, 34_892]
    /// Compressions of Sony, Nikon and Pentax.
    private static let codings: Set<Int> = [32_767, 34_713, 65_535]
    /// Old-style and new-style JPEG compression.
    private static let jpeg: Set<Int> = [6, 7]

    /// Whether the directory describes sensor data.
    var hasSamples: Bool {
        number(Tag.photometric).map(Self.kinds.contains) == true
            || number(Tag.compression).map(Self.codings.contains) == true
    }

    var previews: [Range<Int>] {
        var ranges = [range(Tag.preview, length: Tag.previewLength), self.range(Tag.file)]
        // Lossless JPEG sensor data are also in strips; their frame header distinguishes them. With separate tables,
        // the strip is not a complete file.
        if number(Tag.compression).map(Self.jpeg.contains) == true, !hasSamples, !has(Tag.tables) {
            ranges += [range(Tag.strips, length: Tag.stripLengths), range(Tag.tiles, length: Tag.tileLengths)]
        }
        return ranges.compactMap(\.self)
    }

    /// Returns the range given by two entries, an offset and a length.
    func range(_ start: Int, length: Int) -> Range<Int>? {
        guard let start = number(start), let length = number(length), length > 0 else { return nil }
        return base + start..<base + start + length
    }
}
