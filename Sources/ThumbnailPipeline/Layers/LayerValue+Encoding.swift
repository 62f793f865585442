import Downloading
import HTTPTypes
import Memory
import Recipes
import SharedCaching
import Text
import ThumbnailTypes

extension SourceRecord {
    /// Only the result store's generations are saved: Redis loses its generations together with its values.
    private static let lastingLayer = LayerName.resultStore
    /// Larger than any file.
    private static let maximumBytes = 1 << 48

    var encoded: [UInt8] {
        var writer = RecordWriter()
        writer.write(head.url)
        writer.write(head.status)
        writer.write(head.validator)
        writer.write(head.headerFields)
        writer.write(head.selectingFields)
        writer.write(head.requestedAt.secondsSince1970)
        writer.write(head.receivedAt.secondsSince1970)
        writer.write(byteCount)
        writer.write(header)
        writer.write(generations[Self.lastingLayer]?.encoded ?? [])
        // Present only if faces have been searched for.
        if let faces {
            writer.write(faces.count)
            for face in faces {
                for number in [face.x, face.y, face.width, face.height, face.confidence] { writer.write(number) }
            }
        }
        return writer.bytes
    }

    /// Nil if the bytes are invalid; they may come from another machine, so impossible values are rejected.
    convenience init?(_ bytes: [UInt8], of identity: SourceIdentity, under generations: LayerGenerations = [:]) {
        var reader = RecordReader(bytes)
        guard let url = reader.line(), let status = reader.int(in: 100...599), let validator = reader.validator(),
            let headerFields = reader.fields(), let selectingFields = reader.fields(),
            let requestedAt = reader.date(), let receivedAt = reader.date(),
            let byteCount = reader.int(in: 0...Self.maximumBytes), let header = reader.imageHeader(),
            header.isPlausible,
            let stored = reader.byteArray()
        else { return nil }
        let faces = reader.isAtEnd ? nil : reader.faces()
        guard reader.isAtEnd else { return nil }
        let head = SourceHead(
            identity: identity, url: url, status: status, validator: validator, headerFields: headerFields,
            selectingFields: selectingFields, requestedAt: requestedAt, receivedAt: receivedAt)
        self.init(
            head, header: header, byteCount: byteCount, faces: faces,
            generations: SharedGenerations(stored).map { generations.filled(from: [Self.lastingLayer: $0]) }
                ?? generations)
    }
}

extension RenderedImage {
    var value: CacheValue {
        var writer = RecordWriter()
        writer.write(image.format.rawValue)
        writer.write(image.size.width)
        writer.write(image.size.height)
        writer.write(eTag)
        if image.quality != nil || image.hasGainMap { writer.write(image.quality ?? 0) }
        if image.hasGainMap { writer.write(true) }
        return CacheValue(head: writer.bytes, body: image.bytes)
    }

    init?(_ value: CacheValue) {
        var reader = RecordReader(value.head)
        guard let format = reader.text().flatMap({ ImageFormat(rawValue: $0) }), let width = reader.int(),
            let height = reader.int(), let eTag = reader.line(), eTag.hasPrefix("\""), eTag.hasSuffix("\"")
        else { return nil }
        let size = PixelSize(width: width, height: height)
        let isPlain = reader.isAtEnd
        // Written only after a quality search; 0 if there was none and a gain-map flag follows.
        guard let number = isPlain ? 0 : reader.int(in: 0...100) else { return nil }
        let hasGainMap = !reader.isAtEnd
        guard !hasGainMap || reader.flag() == true, number > 0 || hasGainMap || isPlain, reader.isAtEnd,
            size.isPlausible()
        else { return nil }
        let quality = number == 0 ? nil : number
        self.init(
            EncodedImage(bytes: value.body, format: format, size: size, quality: quality, hasGainMap: hasGainMap),
            eTag: eTag)
    }
}

extension LayerValue {
    func encoded(of records: PerSource<SourceRecord>) -> CacheValue {
        switch self {
        case .record(let record): CacheValue(head: record.encoded)
        case .source(let bytes): CacheValue(head: records.image.validator.encoded, body: bytes)
        case .result(let result): result.value
        }
    }

    /// Nil if the value is invalid, of another version, or a record that a shared cache may not store.
    init?(_ value: CacheValue, for key: CacheKey, under generations: LayerGenerations = [:]) {
        switch key {
        case .record(let identity):
            guard let record = SourceRecord(value.head, of: identity, under: generations),
                record.freshness.storability == .shared
            else { return nil }
            self = .record(record)
        case .source(let version):
            guard value.head == version.validator.encoded else { return nil }
            self = .source(value.body)
        case .result(let key):
            guard let result = RenderedImage(value), result.image.format == key.plan.format else { return nil }
            self = .result(result)
        }
    }
}

extension ResultKey {
    /// - Parameter engine: Release and library versions; empty if another part of the key has them.
    func name(by engine: String = "") -> [UInt8] {
        var writer = RecordWriter()
        writer.write(engine)
        let texts = plan.keyTexts
        writer.write(texts.count)
        for text in texts { writer.write(text) }
        return additional.reduce(source.storedName + writer.bytes + validator.encoded) { bytes, version in
            bytes + version.source.storedName + version.validator.encoded
        }
    }
}

extension SourceIdentity {
    /// Includes the rules: sources fetched under different rules are different sources.
    var storedName: [UInt8] {
        var writer = RecordWriter()
        writer.write(originName != nil)
        writer.write(originName ?? "")
        writer.write(rules.key)
        writer.write(url.canonical)
        if let tenant { writer.write("tenant \(tenant.string)") }
        if let clientFields { writer.write(clientFields.digest) }
        return writer.bytes
    }
}

extension SourceIdentity {
    /// Omits the rules, so that a removal also reaches values stored under earlier rules.
    var removalName: [UInt8] {
        var writer = RecordWriter()
        writer.write(originName ?? "")
        writer.write(url.canonical)
        return writer.bytes
    }
}

extension SourceValidator {
    var encoded: [UInt8] {
        var writer = RecordWriter()
        writer.write(self)
        return writer.bytes
    }
}

extension RecordWriter {
    fileprivate mutating func write(_ validator: SourceValidator) {
        switch validator {
        case .entityTag(let tag):
            write(true)
            write(tag)
        case .digest(let digest):
            write(false)
            write(digest)
        }
    }

    fileprivate mutating func write(_ fields: HTTPFields) {
        write(fields.count)
        for field in fields {
            write(field.name.rawName)
            write(field.value)
        }
    }

    fileprivate mutating func write(_ header: ImageHeader, isPage: Bool = false) {
        write(header.format.rawValue)
        for number in [
            header.storedSize.width, header.storedSize.height, header.work.area, header.work.runs,
            header.work.hiddenArea, header.orientation.exif, header.bands, header.bitDepth, header.frames,
            header.profileByteCount,
        ] {
            write(number)
        }
        for flag in [header.hasAlpha, header.isProgressive, header.isChromaSubsampled] { write(flag) }
        let colors = header.colors.numbers
        write(colors.count)
        for number in colors { write(number) }
        // Texts are written once: all pages have the texts of the first.
        if !isPage {
            let texts = header.exif
            let attribution = header.exif?.attribution
            for text in [
                texts?.make, texts?.model, texts?.dateTime, attribution?.artist, attribution?.copyright,
            ] {
                write(text ?? [])
            }
            write(header.rights?.hasManifest == true)
            for field in SourceRights.Field.allCases { write(Array((header.rights?[field] ?? "").utf8)) }
        }
        if !isPage, header.colors.highRange == .gainMap { write(header.gainMap) }
        // Only vector, RAW and multi-page formats write these.
        if header.format.isVector {
            write(header.vectorSize?.width ?? 0)
            write(header.vectorSize?.height ?? 0)
        }
        if header.format.hasPreview {
            let place = header.preview?.place ?? 0..<0
            let sensor = header.preview?.sensor
            for number in [place.lowerBound, place.upperBound, sensor?.width ?? 0, sensor?.height ?? 0] {
                write(number)
            }
        }
        if header.format.hasPageHeaders {
            write(header.pages.count)
            for page in header.pages { write(page, isPage: true) }
        }
    }
}

extension RecordWriter {
    private mutating func write(_ gainMap: GainMap?) {
        guard let gainMap else { return write(0) }
        let metadata = gainMap.metadata.numbers
        write(metadata.count)
        for number in metadata { write(number) }
        write(gainMap.place.numbers.count)
        for number in gainMap.place.numbers { write(number) }
        write(gainMap.samples.rawValue)
        write(gainMap.header, isPage: true)
    }
}

extension RecordReader {
    /// Reads a gain map; the inner optional is nil if the source has no usable one.
    private mutating func gainMap() -> GainMap?? {
        guard let count = int(in: 0...GainMapMetadata.maximumNumbers) else { return nil }
        if count == 0 { return .some(nil) }
        guard let metadata = numbers(count).flatMap(GainMapMetadata.init(numbers:)),
            let place = int(in: 1...2).flatMap({ numbers($0) }).flatMap(GainMap.Place.init(numbers:)),
            let samples = int().flatMap(GainMap.Samples.init(rawValue:)),
            let header = imageHeader(isPage: true, exif: nil)
        else { return nil }
        return GainMap(place, header: header, metadata: metadata, samples: samples)
    }

    private mutating func numbers(_ count: Int) -> [Int]? {
        var numbers: [Int] = []
        for _ in 0..<count {
            guard let number = int() else { return nil }
            numbers.append(number)
        }
        return numbers
    }

    fileprivate mutating func faces() -> [Face]? {
        guard let count = int(in: 0...Face.maximumCount) else { return nil }
        var faces: [Face] = []
        for _ in 0..<count {
            guard let part = numbers(5) else { return nil }
            let face = Face(x: part[0], y: part[1], width: part[2], height: part[3], confidence: part[4])
            guard face.isPlausible else { return nil }
            faces.append(face)
        }
        return faces
    }

    fileprivate mutating func date() -> HTTPDate? { int(in: HTTPDate.seconds).map { HTTPDate(secondsSince1970: $0) } }

    fileprivate mutating func validator() -> SourceValidator? {
        guard let isTag = flag(), let text = line() else { return nil }
        return isTag ? .entityTag(text) : .digest(text)
    }

    fileprivate mutating func fields() -> HTTPFields? {
        guard let count = count() else { return nil }
        var fields = HTTPFields()
        for _ in 0..<count {
            guard let name = text().flatMap({ HTTPField.Name($0) }), let value = line() else { return nil }
            fields.append(name, value)
        }
        return fields
    }

    fileprivate mutating func imageHeader() -> ImageHeader? { imageHeader(isPage: false, exif: nil) }

    private mutating func imageHeader(isPage: Bool, exif: EXIFTexts?) -> ImageHeader? {
        guard let format = text().flatMap({ ImageFormat(rawValue: $0) }), let width = int(), let height = int(),
            let decodedArea = int(in: 0...Int.max), let decoderRuns = int(),
            let hiddenArea = int(in: 0...Int.max), let orientation = QuarterTurn(exif: int() ?? 0),
            let bands = int(), let bitDepth = int(),
            let frames = int(), let profileByteCount = int(), let hasAlpha = flag(), let isProgressive = flag(),
            let isChromaSubsampled = flag(), let colors = colors()
        else { return nil }
        var header = ImageHeader(
            format: format, storedSize: PixelSize(width: width, height: height),
            work: DecoderWork(area: decodedArea, runs: decoderRuns, hiddenArea: hiddenArea), orientation: orientation,
            bands: bands, bitDepth: bitDepth, frames: frames, hasAlpha: hasAlpha, isProgressive: isProgressive,
            isChromaSubsampled: isChromaSubsampled, profileByteCount: profileByteCount, exif: exif)
        header.colors = colors
        guard isPage || readDetails(of: &header), readParts(of: &header, isPage: isPage) else { return nil }
        return header
    }

    /// Reads what pages do not repeat; returns false if it is damaged.
    private mutating func readDetails(of header: inout ImageHeader) -> Bool {
        guard let make = byteArray(), let model = byteArray(), let dateTime = byteArray(),
            let artist = byteArray(), let copyright = byteArray(), let hasManifest = flag()
        else { return false }
        header.exif = EXIFTexts(
            make: make, model: model, dateTime: dateTime,
            attribution: Attribution(artist: artist, copyright: copyright))
        var rights = SourceRights()
        rights.hasManifest = hasManifest
        for field in SourceRights.Field.allCases {
            guard let text = byteArray() else { return false }
            rights.add(field, text: text)
        }
        rights.limit()
        header.rights = rights.isEmpty ? nil : rights
        guard header.colors.highRange == .gainMap else { return true }
        guard let map = gainMap() else { return false }
        header.gainMap = map
        return true
    }

    /// Reads the drawing, preview and pages, if the format has them; returns false if they are damaged.
    private mutating func readParts(of header: inout ImageHeader, isPage: Bool) -> Bool {
        if header.format.isVector {
            guard let width = int(), let height = int() else { return false }
            header.vectorSize = PixelSize(width: width, height: height)
        }
        if header.format.hasPreview {
            guard let start = int(in: 0...Int.max), let end = int(in: start...Int.max),
                let width = int(in: 0...Int.max), let height = int(in: 0...Int.max)
            else { return false }
            header.preview = EmbeddedPreview(start..<end, sensor: PixelSize(width: width, height: height))
        }
        guard header.format.hasPageHeaders else { return true }
        guard let count = int(), count == 0 || count == header.frames && !isPage else { return false }
        for _ in 0..<count {
            guard let page = imageHeader(isPage: true, exif: header.exif) else { return false }
            header.pages.append(page)
        }
        return true
    }

    private mutating func colors() -> SourceColors? {
        int(in: 2...SourceColors.maximumNumbers).flatMap { numbers($0) }.flatMap(SourceColors.init(numbers:))
    }
}
