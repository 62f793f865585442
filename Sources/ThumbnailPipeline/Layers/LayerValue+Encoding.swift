import Downloading
import HTTPTypes
import Memory
import Recipes
import SharedCaching
import ThumbnailTypes

extension LayerValue {
    func encoded(of records: PerSource<SourceRecord>) -> CacheValue {
        switch self {
        case .record(let record): CacheValue(head: record.encoded)
        case .source(let bytes): CacheValue(head: records.main.validator.encoded, body: bytes)
        case .result(let result): result.value
        }
    }

    /// Returns nil if the value is invalid, of another version, or a record that a shared cache may not store.
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
        writer.write(head.requestedAt)
        writer.write(head.receivedAt)
        writer.write(byteCount)
        header.write(to: &writer)
        writer.write(generations[Self.lastingLayer]?.encoded ?? [])
        // Present only if faces have been searched for.
        if let faces { writer.write(faces) }
        return writer.bytes
    }

    /// Returns nil if the bytes are invalid; they may come from another machine, so impossible values are rejected.
    convenience init?(_ bytes: [UInt8], of identity: SourceIdentity, under generations: LayerGenerations = [:]) {
        var reader = RecordReader(bytes)
        guard let url = reader.line(), let status = reader.int(in: 100...599),
            let validator = SourceValidator(from: &reader), let headerFields = HTTPFields(from: &reader),
            let selectingFields = HTTPFields(from: &reader), let requestedAt = HTTPDate(from: &reader),
            let receivedAt = HTTPDate(from: &reader), let byteCount = reader.int(in: 0...Self.maximumBytes),
            let header = ImageHeader(from: &reader), header.isPlausible, let stored = reader.byteArray()
        else { return nil }
        let faces: [Face]? = reader.isAtEnd ? nil : reader.values(atMost: Face.maximumCount)
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
        writer.write(image.size)
        writer.write(eTag)
        if image.quality != nil || image.hasGainMap { writer.write(image.quality ?? 0) }
        if image.hasGainMap { writer.write(true) }
        return CacheValue(head: writer.bytes, body: image.bytes)
    }

    init?(_ value: CacheValue) {
        var reader = RecordReader(value.head)
        guard let format = reader.text().flatMap({ ImageFormat(rawValue: $0) }), let size = PixelSize(from: &reader),
            let eTag = reader.line(), eTag.hasPrefix("\""), eTag.hasSuffix("\"")
        else { return nil }
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

extension SourceValidator: RecordValue {
    var encoded: [UInt8] {
        var writer = RecordWriter()
        writer.write(self)
        return writer.bytes
    }

    func write(to writer: inout RecordWriter) {
        switch self {
        case .entityTag(let tag):
            writer.write(true)
            writer.write(tag)
        case .digest(let digest):
            writer.write(false)
            writer.write(digest)
        }
    }

    init?(from reader: inout RecordReader) {
        guard let isTag = reader.flag(), let text = reader.line() else { return nil }
        self = isTag ? .entityTag(text) : .digest(text)
    }
}

extension HTTPFields: RecordValue {
    func write(to writer: inout RecordWriter) {
        writer.write(count)
        for field in self {
            writer.write(field.name.rawName)
            writer.write(field.value)
        }
    }

    init?(from reader: inout RecordReader) {
        guard let count = reader.count() else { return nil }
        self.init()
        for _ in 0..<count {
            guard let name = reader.text().flatMap({ HTTPField.Name($0) }), let value = reader.line() else {
                return nil
            }
            append(name, value)
        }
    }
}

extension HTTPDate: RecordValue {
    func write(to writer: inout RecordWriter) { writer.write(secondsSince1970) }

    init?(from reader: inout RecordReader) {
        guard let seconds = reader.int(in: Self.seconds) else { return nil }
        self.init(secondsSince1970: seconds)
    }
}

extension Face: RecordValue {
    func write(to writer: inout RecordWriter) {
        for number in [x, y, width, height, confidence] { writer.write(number) }
    }

    init?(from reader: inout RecordReader) {
        guard let x = reader.int(), let y = reader.int(), let width = reader.int(), let height = reader.int(),
            let confidence = reader.int()
        else { return nil }
        self.init(x: x, y: y, width: width, height: height, confidence: confidence)
        if !isPlausible { return nil }
    }
}
