import Recipes

extension ImageHeader {
    /// - Parameter isPage: Omits the texts, which are the same on all pages.
    func write(to writer: inout RecordWriter, isPage: Bool = false) {
        writer.write(format.rawValue)
        writer.write(storedSize)
        writer.write(work)
        for number in [orientation.exif, bands, bitDepth, frames, profileByteCount] { writer.write(number) }
        for flag in [hasAlpha, isProgressive, isChromaSubsampled] { writer.write(flag) }
        writer.write(numbers: colors.numbers)
        if !isPage {
            writeTexts(to: &writer)
            if colors.hdrFormat == .gainMap { writeGainMap(to: &writer) }
        }
        writeFormatDetails(to: &writer)
    }

    /// - Parameter exif: The texts of the file that has this page; nil for a file.
    init?(from reader: inout RecordReader, isPage: Bool = false, exif: EXIFTexts? = nil) {
        guard let format = reader.text().flatMap({ ImageFormat(rawValue: $0) }),
            let storedSize = PixelSize(from: &reader), let work = DecoderWork(from: &reader),
            let orientation = QuarterTurn(exif: reader.int() ?? 0), let bands = reader.int(),
            let bitDepth = reader.int(), let frames = reader.int(), let profileByteCount = reader.int(),
            let hasAlpha = reader.flag(), let isProgressive = reader.flag(), let isChromaSubsampled = reader.flag(),
            let colors = reader.numbers(2...SourceColors.maximumNumbers).flatMap(SourceColors.init(numbers:))
        else { return nil }
        self.init(
            format: format, storedSize: storedSize, work: work, orientation: orientation, bands: bands,
            bitDepth: bitDepth, frames: frames, hasAlpha: hasAlpha, isProgressive: isProgressive,
            isChromaSubsampled: isChromaSubsampled, profileByteCount: profileByteCount, exif: exif)
        self.colors = colors
        if !isPage {
            guard readTexts(from: &reader), colors.hdrFormat != .gainMap || readGainMap(from: &reader) else {
                return nil
            }
        }
        guard readFormatDetails(from: &reader, isPage: isPage) else { return nil }
    }

    private func writeTexts(to writer: inout RecordWriter) {
        let attribution = exif?.attribution
        for text in [exif?.make, exif?.model, exif?.dateTime, attribution?.artist, attribution?.copyright] {
            writer.write(text ?? [])
        }
        writer.write(rights?.hasManifest == true)
        for field in SourceRights.Field.allCases { writer.write(Array((rights?[field] ?? "").utf8)) }
    }

    private mutating func readTexts(from reader: inout RecordReader) -> Bool {
        guard let make = reader.byteArray(), let model = reader.byteArray(), let dateTime = reader.byteArray(),
            let artist = reader.byteArray(), let copyright = reader.byteArray(), let hasManifest = reader.flag()
        else { return false }
        exif = EXIFTexts(
            make: make, model: model, dateTime: dateTime,
            attribution: Attribution(artist: artist, copyright: copyright))
        var rights = SourceRights()
        rights.hasManifest = hasManifest
        for field in SourceRights.Field.allCases {
            guard let text = reader.byteArray() else { return false }
            rights.add(field, text: text)
        }
        rights.limit()
        self.rights = rights.isEmpty ? nil : rights
        return true
    }

    /// Writes the gain map; 0 if the source has no usable one.
    private func writeGainMap(to writer: inout RecordWriter) {
        guard let gainMap else { return writer.write(0) }
        writer.write(numbers: gainMap.metadata.numbers)
        writer.write(numbers: gainMap.location.numbers)
        writer.write(gainMap.samples.rawValue)
        gainMap.header.write(to: &writer, isPage: true)
    }

    private mutating func readGainMap(from reader: inout RecordReader) -> Bool {
        guard let numbers = reader.numbers(0...GainMapMetadata.maximumNumbers) else { return false }
        if numbers.isEmpty { return true }
        guard let metadata = GainMapMetadata(numbers: numbers),
            let location = reader.numbers(1...2).flatMap(GainMap.Location.init(numbers:)),
            let samples = reader.int().flatMap(GainMap.Samples.init(rawValue:)),
            let header = ImageHeader(from: &reader, isPage: true)
        else { return false }
        gainMap = GainMap(location, header: header, metadata: metadata, samples: samples)
        return true
    }

    /// Writes the size of a drawing, the preview of a photograph, and the pages, if the format has them.
    private func writeFormatDetails(to writer: inout RecordWriter) {
        if format.isVector { writer.write(vectorSize ?? PixelSize(width: 0, height: 0)) }
        if format.hasPreview {
            let range = preview?.range ?? 0..<0
            writer.write(range.lowerBound)
            writer.write(range.upperBound)
            writer.write(preview?.sensor ?? PixelSize(width: 0, height: 0))
        }
        if format.hasPageHeaders {
            writer.write(pages.count)
            for page in pages { page.write(to: &writer, isPage: true) }
        }
    }

    private mutating func readFormatDetails(from reader: inout RecordReader, isPage: Bool) -> Bool {
        if format.isVector {
            guard let size = PixelSize(from: &reader) else { return false }
            vectorSize = size
        }
        if format.hasPreview {
            guard let start = reader.int(in: 0...Int.max), let end = reader.int(in: start...Int.max),
                let sensor = PixelSize(from: &reader), sensor.width >= 0, sensor.height >= 0
            else { return false }
            preview = EmbeddedPreview(start..<end, sensor: sensor)
        }
        guard format.hasPageHeaders else { return true }
        guard let count = reader.int(), count == 0 || count == frames && !isPage else { return false }
        for _ in 0..<count {
            guard let page = ImageHeader(from: &reader, isPage: true, exif: exif) else { return false }
            pages.append(page)
        }
        return true
    }
}

extension PixelSize: RecordValue {
    func write(to writer: inout RecordWriter) {
        writer.write(width)
        writer.write(height)
    }

    init?(from reader: inout RecordReader) {
        guard let width = reader.int(), let height = reader.int() else { return nil }
        self.init(width: width, height: height)
    }
}

extension DecoderWork: RecordValue {
    func write(to writer: inout RecordWriter) {
        for number in [area, runs, hiddenArea] { writer.write(number) }
    }

    init?(from reader: inout RecordReader) {
        guard let area = reader.int(in: 0...Int.max), let runs = reader.int(),
            let hiddenArea = reader.int(in: 0...Int.max)
        else { return nil }
        self.init(area: area, runs: runs, hiddenArea: hiddenArea)
    }
}
