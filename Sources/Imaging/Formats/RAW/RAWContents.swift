import Recipes

/// The previews and metadata that a walk finds in a file.
struct RAWContents {
    /// Candidates: ``RAWFrame`` tells which are JPEG files.
    var previews: [Range<Int>] = []
    var sensor: PixelSize?
    /// The first directory, and that of the exposure.
    var main, exposure: RAWDirectory?
    var packet: Range<Int>?
}

extension RAWContents {
    /// Nil for a file of another kind.
    init?(_ read: RangeReader) throws(HeaderStop) {
        guard let start = try HeaderStop.unlessFailed({ () throws(HeaderStop) in try read(0..<16) }) else {
            return nil
        }
        if start.hasText("FUJIFILMCCD-RAW ") {
            try self.init(fujifilm: read)
        } else if start.hasText("ftypcrx ", at: 4) {
            try self.init(boxes: read)
        } else {
            try self.init(directories: read, start)
        }
    }

    private enum Magic {
        static let tiff = 42
        /// "RO" and "RS" of Olympus, and "U".
        static let (olympus, oldOlympus, panasonic) = (0x4F52, 0x5352, 0x55)
    }

    private init?(directories read: RangeReader, _ start: [UInt8]) throws(HeaderStop) {
        let isLittleEndian = start.hasText("II")
        guard isLittleEndian || start.hasText("MM") else { return nil }
        let magic = start.short(2, isLittleEndian)
        guard [Magic.tiff, Magic.olympus, Magic.oldOlympus, Magic.panasonic].contains(magic) else { return nil }
        var directories = RAWDirectories()
        try directories.addChain(at: start.long(4, isLittleEndian), isLittleEndian: isLittleEndian, read)
        guard magic != Magic.tiff || start.hasText("CR", at: 8) || directories.isRAW else { return nil }
        main = directories.all.first
        packet = main?.place(RAWDirectory.Tag.packet)
        previews = directories.all.flatMap(\.previews)
        if magic == Magic.panasonic {
            sensor = main?.size(RAWDirectory.Tag.sensorWidth, RAWDirectory.Tag.sensorHeight)
        }
        let sizes = directories.all.filter(\.hasSamples).compactMap { $0.size() }
        sensor = sensor ?? sizes.max { $0.area < $1.area }
        // Olympus does not mark its samples.
        if magic == Magic.olympus || magic == Magic.oldOlympus { sensor = sensor ?? main?.size() }
        guard let main, let address = main.number(EXIFDirectory.exposure) else { return }
        exposure = try HeaderStop.unlessFailed { () throws(HeaderStop) in
            try RAWDirectory(at: address, base: 0, isLittleEndian: isLittleEndian, read)
        }
        if let exposure { previews += try RAWMakerNote(in: exposure, read).previews }
    }

    /// The JPEG has the metadata.
    private init(fujifilm read: RangeReader) throws(HeaderStop) {
        let places = try read(84..<100)
        previews = [places.long(0)..<places.long(0) + places.long(4)]
        let table = places.long(8)..<places.long(8) + places.long(12)
        sensor = try HeaderStop.unlessFailed { () throws(HeaderStop) in try Self.sensor(inTable: table, read) } ?? nil
    }

    private static func sensor(inTable place: Range<Int>, _ read: RangeReader) throws(HeaderStop) -> PixelSize? {
        let table = try read(place.prefix(4_096))
        var offset = 4
        while offset + 8 <= table.count {
            // Height and width of all samples.
            if table.short(offset) == 0x100 {
                return PixelSize(width: table.short(offset + 6), height: table.short(offset + 4)).plausible
            }
            offset += 4 + table.short(offset + 2)
        }
        return nil
    }
}
