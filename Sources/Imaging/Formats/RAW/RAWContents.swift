import Recipes

/// The previews and metadata of a file.
struct RAWContents {
    /// Possible previews; ``RAWFrame`` checks whether they are JPEG files.
    var previews: [Range<Int>] = []
    var sensor: PixelSize?
    /// The first directory and the EXIF directory.
    var main, exif: RAWDirectory?
    var packet: Range<Int>?
}

extension RAWContents {
    /// Returns nil for other formats.
    init?(_ bytes: RawSpan) {
        guard let start = try? bytes.checkedArray(0..<16) else { return nil }
        if start.hasText("FUJIFILMCCD-RAW ") {
            self.init(fujifilm: bytes)
        } else if start.hasText("ftypcrx ", at: 4) {
            self.init(boxes: bytes)
        } else {
            self.init(directories: bytes, start: start)
        }
    }

    private enum Magic {
        static let tiff = 42
        /// Olympus' "RO" and "RS", and Panasonic's "U".
        static let olympus = 0x4F52
        static let oldOlympus = 0x5352
        static let panasonic = 0x55
    }

    private init?(directories bytes: RawSpan, start: [UInt8]) {
        let isLittleEndian = start.hasText("II")
        guard isLittleEndian || start.hasText("MM") else { return nil }
        let magic = start.short(2, isLittleEndian: isLittleEndian)
        guard [Magic.tiff, Magic.olympus, Magic.oldOlympus, Magic.panasonic].contains(magic) else { return nil }
        var directories = RAWDirectories()
        directories.addChain(
            at: start.long(4, isLittleEndian: isLittleEndian), isLittleEndian: isLittleEndian, in: bytes)
        guard magic != Magic.tiff || start.hasText("CR", at: 8) || directories.isRAW else { return nil }
        main = directories.all.first
        packet = main?.range(RAWDirectory.Tag.packet)
        previews = directories.all.flatMap(\.previews)
        if magic == Magic.panasonic {
            sensor = main?.size(RAWDirectory.Tag.sensorWidth, RAWDirectory.Tag.sensorHeight)
        }
        let sizes = directories.all.filter(\.hasSamples).compactMap { $0.size() }
        sensor = sensor ?? sizes.max { $0.area < $1.area }
        // Olympus does not mark sensor data.
        if magic == Magic.olympus || magic == Magic.oldOlympus { sensor = sensor ?? main?.size() }
        guard let main, let address = main.number(EXIFDirectory.exifIFD) else { return }
        exif = try? RAWDirectory(at: address, base: 0, isLittleEndian: isLittleEndian, in: bytes)
        if let exif { previews += RAWMakerNote(in: exif, of: bytes).previews }
    }

    /// Reads Fujifilm's header; its JPEG has the metadata.
    private init?(fujifilm bytes: RawSpan) {
        guard let ranges = try? bytes.checkedArray(84..<100) else { return nil }
        previews = [ranges.long(0)..<ranges.long(0) + ranges.long(4)]
        guard let table = try? bytes.checkedArray((ranges.long(8)..<ranges.long(8) + ranges.long(12)).prefix(4_096))
        else {
            return
        }
        var offset = 4
        while offset + 8 <= table.count {
            // The height and width of the sensor data.
            if table.short(offset) == 0x100 {
                sensor = PixelSize(width: table.short(offset + 6), height: table.short(offset + 4)).plausible
                return
            }
            offset += 4 + table.short(offset + 2)
        }
    }
}
