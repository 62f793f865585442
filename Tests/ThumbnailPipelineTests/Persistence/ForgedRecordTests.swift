import DiskCaching
import Downloading
import HTTPTypes
import Imaging
import Memory
import Recipes
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import ThumbnailPipeline

/// Numbers in records from a cache that others can write to must not crash the process.
struct ForgedRecordTests {
    /// Numbers outside the range of every field, or that overflow in arithmetic.
    private static let extremes = [
        Int.min, Int.min + 1, -(1 << 32), -1, 0, 1, 2, 5, 9, 255, 1 << 31, 1 << 32, 1 << 47, 1 << 62, Int.max - 1,
        Int.max,
    ]

    private static let identity: SourceIdentity = {
        guard let url = try? SourceURL(parsing: "http://example.com/a") else { fatalError("no URL") }
        return SourceIdentity(url: url)
    }()

    private static func header(_ format: ImageFormat) -> ImageHeader {
        let exif = EXIFTexts(
            make: [65], model: [66], dateTime: [67], attribution: Attribution(artist: [68], copyright: [69]))
        func header(
            frames: Int = 1, drawing: PixelSize? = nil, pages: [ImageHeader] = [], preview: EmbeddedPreview? = nil
        ) -> ImageHeader {
            var header = ImageHeader(
                format: format, storedSize: PixelSize(width: 64, height: 48),
                work: DecoderWork(area: 4_000, runs: 2, hiddenArea: 5_000), orientation: 6, bands: 3, frames: frames,
                isProgressive: true, profileByteCount: 500, exif: exif)
            header.vectorSize = drawing
            header.pages = pages
            header.preview = preview
            var rights = SourceRights()
            rights.add(.credit, text: [70])
            header.rights = rights
            return header
        }
        switch format {
        case .svg: return header(drawing: PixelSize(width: 64_000, height: 48_000))
        case .raw:
            return header(preview: EmbeddedPreview(1_000..<8_000, sensor: PixelSize(width: 600, height: 400)))
        case .tiff: return header(frames: 2, pages: [header(frames: 2), header(frames: 2)])
        case .gif, .webp: return header(frames: 3)
        case .jpeg, .heic:
            let map = ImageHeader(format: format, storedSize: PixelSize(width: 16, height: 12), bands: 1)
            guard let metadata = GainMapMetadata(numbers: [1, 0, 1, 3, 1, 0, 1, 3, 1, 1, 1, 1, 64, 1, 64]) else {
                fatalError("no metadata")
            }
            var whole = header()
            whole.colors.hdrFormat = .gainMap
            whole.gainMap = GainMap(
                format == .jpeg ? .file(8_000..<9_000) : .item(49), header: map, metadata: metadata,
                samples: format == .jpeg ? .logarithms : .amounts)
            return whole
        default: return header()
        }
    }

    private static func record(_ format: ImageFormat) -> SourceRecord {
        let head = SourceHead(
            identity: identity, validator: .entityTag("\"1\""),
            headerFields: [
                .cacheControl: "max-age=100, stale-if-error=50", .date: "Sun, 06 Nov 1994 08:49:37 GMT", .age: "7",
                .lastModified: "Sat, 05 Nov 1994 08:49:37 GMT", .eTag: "\"1\"",
            ],
            selectingFields: [.accept: "image/*"], requestedAt: HTTPDate(secondsSince1970: 784_111_770),
            receivedAt: HTTPDate(secondsSince1970: 784_111_777))
        return SourceRecord(head, header: header(format), byteCount: 9_000)
    }

    private static let requests: [Request] = {
        var requests = [
            Request.path(width: 20), .path(width: nil), .path(width: 16_384, format: .fixed(.avif)),
        ]
        var page = Request.path(format: .fixed(.jpeg))
        page.options.page = 1
        var animation = Request.path(format: .fixed(.webp))
        animation.options.isAnimated = true
        var large = Request.path(width: 300)
        (large.options.enlarge, large.options.devicePixelRatio, large.options.fit) = (true, 8_000, .contain)
        requests += [page, animation, large]
        return requests
    }()

    /// Uses a record as requests, operators and the shared cache do.
    private func use(_ record: SourceRecord) throws {
        let again = try #require(SourceRecord(record.encoded, of: Self.identity), "it is not read as it is written")
        #expect(again.header == record.header && again.encoded == record.encoded)
        let freshness = record.freshness
        for now in [0, 784_111_800, 1_800_000_000, HTTPDate.seconds.upperBound] {
            _ = (freshness.age(at: now), freshness.isFresh(at: now), freshness.remainingLifetime(at: now))
            _ = Freshness(freshness, at: now, isFromCache: true, bounds: ClientMaxAge())
            _ = freshness.reuse(at: now, for: .none, staleAllowances: StaleAllowances())
        }
        _ = record.head.lastModified?.imfFixdate
        _ = (record.head.requestedAt.imfFixdate, record.head.receivedAt.imfFixdate)
        var configuration = PipelineConfiguration()
        configuration.rules.limits.sourceFormats = Set(ImageFormat.allCases)
        for request in Self.requests {
            guard let key = try? ResultKey(for: request, of: PerSource(record), by: configuration) else { continue }
            _ = record.header.cost(of: key.plan.decode, fileByteCount: record.byteCount)
            _ = record.header.maximumPixelBytes(of: key.plan.decode)
            _ = key.decodeKey.timeCost(of: record.header, fileByteCount: record.byteCount)
            _ = (key.plan.cost, key.plan.timeCost(of: record.header), key.name())
        }
    }

    /// Every truncation of `bytes`, and every variation of eight bytes or one byte.
    private func forgeries(of bytes: [UInt8]) -> some Sequence<[UInt8]> {
        let numbers = (0...max(0, bytes.count - 8)).lazy.flatMap { place in
            Self.extremes.lazy.map { number in
                var forged = bytes
                for shift in 0..<8 where place + shift < forged.count {
                    forged[place + shift] = UInt8(truncatingIfNeeded: number >> (shift * 8))
                }
                return forged
            }
        }
        let others = bytes.indices.lazy.map { place in
            var forged = bytes
            forged[place] ^= 0xff
            return forged
        }
        return [numbers.map(\.self), others.map(\.self), bytes.indices.map { Array(bytes[..<$0]) }].joined()
    }

    @Test(arguments: ImageFormat.allCases)
    func `no number anywhere in a source's record crashes the process`(format: ImageFormat) throws {
        let whole = Self.record(format)
        try use(try #require(SourceRecord(whole.encoded, of: Self.identity)))
        var believed = 0
        for forged in forgeries(of: whole.encoded) {
            guard let record = SourceRecord(forged, of: Self.identity) else { continue }
            believed += 1
            try use(record)
        }
        #expect(believed > 0, "a forged letter of a text is believed")
    }

    @Test func `no number in a result crashes the process`() {
        let whole = RenderedImage(
            EncodedImage(
                bytes: SharedBytes([1, 2, 3]), format: .avif, size: PixelSize(width: 20, height: 15), quality: 55))
        #expect(RenderedImage(whole.value)?.image.quality == 55)
        for forged in forgeries(of: whole.value.head) {
            guard let result = RenderedImage(CacheValue(head: forged, body: whole.image.bytes)) else { continue }
            #expect(result.image.size.area > 0 && result.cost > 0)
            #expect(!result.eTag.utf8.contains(0x0a) && 1...100 ~= result.image.quality ?? 1)
        }
    }

    /// Records with one value that no origin or file can produce.
    private static let impossible: [(name: String, bytes: [UInt8])] = {
        var list: [(name: String, bytes: [UInt8])] = []
        func add(
            _ name: String, head change: (inout [HTTPField]) -> Void = { _ in }, status: Int = 200,
            url: String = "http://example.com/a", tag: String = "\"1\"", byteCount: Int = 9, _ header: ImageHeader
        ) {
            var fields: [HTTPField] = []
            change(&fields)
            let head = SourceHead(
                identity: identity, url: url, status: status, validator: .entityTag(tag),
                headerFields: HTTPFields(fields), selectingFields: [:],
                requestedAt: HTTPDate(secondsSince1970: 1), receivedAt: HTTPDate(secondsSince1970: 2))
            list.append((name, SourceRecord(head, header: header, byteCount: byteCount).encoded))
        }
        func jpeg(
            _ width: Int = 4, _ height: Int = 3, bands: Int = 3, depth: Int = 8, frames: Int = 1,
            profile: Int = 0, exif: EXIFTexts? = nil
        ) -> ImageHeader {
            ImageHeader(
                format: .jpeg, storedSize: PixelSize(width: width, height: height),
                bands: bands, bitDepth: depth, frames: frames, profileByteCount: profile, exif: exif)
        }
        let good = jpeg()
        for number in [Int.min, -1, 0, 1 << 33, Int.max] {
            add("width \(number)", jpeg(number))
            add("height \(number)", jpeg(4, number))
            // No header has this orientation, so it is written into the bytes between the runs and the bands.
            let forged = record(.jpeg).encoded.replacing(
                0.bytes + 1.bytes + 3.bytes, with: 0.bytes + number.bytes + 3.bytes)
            list.append(("orientation \(number)", forged))
            add("bands \(number)", jpeg(bands: number))
            add("depth \(number)", jpeg(depth: number))
            add("frames \(number)", jpeg(frames: number))
            add("status \(number)", status: number, good)
            if number != 0 { add("profile \(number)", jpeg(profile: number)) }
            if number < 0 || number == .max {
                // No header can be created with these dates, so they are written into the bytes.
                for date in [784_111_770, 784_111_777] {
                    list.append(("date \(number)", record(.jpeg).encoded.replacing(date.bytes, with: number.bytes)))
                }
                add("bytes \(number)", byteCount: number, good)
            }
            for size in [PixelSize(width: number, height: 3), PixelSize(width: 4, height: number)]
            where number != 1 << 33 {
                var drawing = ImageHeader(format: .svg, storedSize: PixelSize(width: 4, height: 3))
                drawing.vectorSize = size
                add("drawing \(size)", drawing)
                var document = ImageHeader(format: .tiff, storedSize: PixelSize(width: 4, height: 3), frames: 1)
                document.pages = [ImageHeader(format: .tiff, storedSize: size, frames: 1)]
                add("page \(size)", document)
            }
        }
        for end in ["\r\nX: 1", "\n", "\0"] {
            add("a field", head: { $0.append(HTTPField(name: .eTag, value: "1\(end)")) }, good)
            add("a tag", tag: "1" + end, good)
            add("a URL", url: "http://example.com/" + end, good)
        }
        add("long texts", jpeg(exif: EXIFTexts(make: [UInt8](repeating: 65, count: 256))))
        add(
            "long rights",
            jpeg(
                exif: EXIFTexts(
                    attribution: Attribution(artist: [], copyright: [UInt8](repeating: 65, count: 4_097)))))
        return list
    }()

    @Test func `a record with impossible values is not trusted`() {
        #expect(Self.impossible.count > 60)
        for (name, bytes) in Self.impossible {
            #expect(SourceRecord(bytes, of: Self.identity) == nil, "\(name)")
        }
    }

    @Test func `a result that no encoder made is not trusted`() {
        func isBelieved(
            _ width: Int = 20, _ height: Int = 15, tag: String = "\"a\"", quality: Int? = 5
        ) -> Bool {
            let image = EncodedImage(
                bytes: SharedBytes([1]), format: .jpeg, size: PixelSize(width: width, height: height), quality: quality)
            return RenderedImage(RenderedImage(image, eTag: tag).value) != nil
        }
        #expect(isBelieved() && isBelieved(quality: nil))
        for number in [Int.min, -1, 0, 1 << 24, Int.max] {
            #expect(!isBelieved(number) && !isBelieved(20, number) && !isBelieved(quality: number), "\(number)")
        }
        for tag in ["", "a", "\"a", "\"a\r\nX: 1\"", "\"\0\""] { #expect(!isBelieved(tag: tag), "\(tag)") }
    }
}

extension Int {
    /// The number as encoded in records.
    fileprivate var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) } }
}
