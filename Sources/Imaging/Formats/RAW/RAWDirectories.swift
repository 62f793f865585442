import Recipes

/// The directories of a file, each once: a chain, and the directories that it contains.
struct RAWDirectories {
    private(set) var all: [RAWDirectory] = []
    private var seen: Set<Int> = []

    private static let maximum = 32
    private static let maximumChildren = 8
    private static let deepest = 2

    /// Adds a chain of directories, up to any damage.
    mutating func addChain(at address: Int, isLittleEndian: Bool, depth: Int = 0, _ bytes: RawSpan) {
        var address = address
        while address != 0, all.count < Self.maximum, seen.insert(address).inserted,
            let directory = try? RAWDirectory(at: address, base: 0, isLittleEndian: isLittleEndian, bytes)
        {
            all.append(directory)
            if depth < Self.deepest {
                for child in directory.numbers(RAWDirectory.Tag.children, atMost: Self.maximumChildren, bytes) {
                    addChain(at: child, isLittleEndian: isLittleEndian, depth: depth + 1, bytes)
                }
            }
            address = directory.next
        }
    }

    /// Programs of camera makers write TIFF files with the camera's name, too, but without its samples.
    var isRAW: Bool {
        guard let first = all.first else { return false }
        return first.has(RAWDirectory.Tag.version)
            || first.has(EXIFDirectory.make) && all.contains(where: \.hasSamples)
    }
}

extension RAWDirectory {
    /// Photometric interpretations of sensor data: a color filter array (TIFF/EP), or linear values (DNG 1.7).
    private static let kinds: Set<Int> = [32_803, 34_892]
    /// Sony's, Nikon's, Pentax's.
    private static let codings: Set<Int> = [32_767, 34_713, 65_535]
    /// Old and new JPEG.
    private static let jpeg: Set<Int> = [6, 7]

    /// Samples of a sensor.
    var hasSamples: Bool {
        number(Tag.photometric).map(Self.kinds.contains) == true
            || number(Tag.compression).map(Self.codings.contains) == true
    }

    var previews: [Range<Int>] {
        var places = [place(Tag.preview, Tag.previewLength), self.place(Tag.file)]
        // Lossless JPEG has its samples in strips, too: its frame tells it apart. Tables stand in another place.
        if number(Tag.compression).map(Self.jpeg.contains) == true, !hasSamples, !has(Tag.tables) {
            places += [place(Tag.strips, Tag.stripLengths), place(Tag.tiles, Tag.tileLengths)]
        }
        return places.compactMap(\.self)
    }

    /// The place that a pair of entries names.
    func place(_ start: Int, _ length: Int) -> Range<Int>? {
        guard let start = number(start), let length = number(length), length > 0 else { return nil }
        return base + start..<base + start + length
    }
}
