import Recipes

/// A track of a sequence (ISO/IEC 14496-12 section 8).
struct HEIFTrack {
    private(set) var id = 0
    private(set) var owners: [Int] = []
    private(set) var isPremultiplied = false
    private(set) var size = PixelSize(width: 0, height: 0)
    /// The properties of all frames: their coding and colors.
    private(set) var properties: [HEIFProperty] = []
    private(set) var coding: HEIFCoding?
    private(set) var isAlpha = false
    private(set) var count = 0
    private(set) var loop = 0
    private var timescale = 1
    private var duration: Int?
    private var tables: [Int: Range<Int>] = [:]
    private var boxCount = 0

    private static let maximum = 20_000

    private init?(_ bytes: RawSpan, in range: Range<Int>) throws(ImagingError) {
        try read(bytes, in: range, depth: 0)
        guard coding != nil, 1...Self.maximum ~= count, size.width > 0, size.height > 0 else { return nil }
    }

    private static let containers = ["mdia", "minf", "stbl", "edts"].map(BoxCursor.type)
    private static let readTables = ["stsc", "stco", "co64", "stts", "stss"].map(BoxCursor.type)
    /// The maximum number of entries; further ones are ignored.
    private static let maximumEntries = 64
    /// The maximum number of boxes; about 20 are usual.
    private static let maximumBoxes = 1_000

    private mutating func read(_ bytes: RawSpan, in range: Range<Int>, depth: Int) throws(ImagingError) {
        var boxes = BoxCursor(range)
        while let box = try boxes.next(in: bytes) {
            try addBox()
            let start = box.contents.lowerBound
            switch box.type {
            case let type where Self.containers.contains(type) && depth < 3:
                try read(bytes, in: box.contents, depth: depth + 1)
            case BoxCursor.type("tkhd"):
                let isLong = try bytes.byte(at: start) != 0
                id = try bytes.bigEndian32(at: start + (isLong ? 20 : 12))
                duration = try bytes.duration(at: start + (isLong ? 28 : 20), isLong: isLong)
            case BoxCursor.type("mdhd"):
                timescale = try max(1, bytes.bigEndian32(at: start + (bytes.byte(at: start) == 0 ? 12 : 20)))
            case BoxCursor.type("elst"):
                let isLong = try bytes.byte(at: start) != 0
                guard try bytes.byte(at: start + 3) & 1 == 1 else { loop = 1; break }
                // A repeating edit fills the track's duration, if known.
                let once = try bytes.duration(at: start + 8, isLong: isLong)
                if let once, let duration, once > 0 { loop = min(max(1, (duration + once / 2) / once), 65_535) }
            case BoxCursor.type("tref"):
                var references = BoxCursor(box.contents)
                while let reference = try references.next(in: bytes) {
                    try addBox()
                    if reference.type == BoxCursor.type("prem") { isPremultiplied = true }
                    guard reference.type == BoxCursor.type("auxl") else { continue }
                    let contents = reference.contents.prefix(4 * (Self.maximumEntries - owners.count))
                    for offset in stride(from: contents.lowerBound, to: contents.upperBound - 3, by: 4) {
                        owners.append(try bytes.bigEndian32(at: offset))
                    }
                }
            case BoxCursor.type("stsd"): try readEntry(bytes, in: box.contents.dropFirst(8))
            case BoxCursor.type("stsz"):
                count = try bytes.bigEndian32(at: start + 8)
                tables[box.type] = box.contents
            case let type where Self.readTables.contains(type): tables[type] = box.contents
            default: break
            }
        }
    }

    private mutating func addBox() throws(ImagingError) {
        boxCount += 1
        guard boxCount <= Self.maximumBoxes else { throw .cannotDecode(detail: "a track has too many boxes") }
    }

    private mutating func readEntry(_ bytes: RawSpan, in range: Range<Int>) throws(ImagingError) {
        var entries = BoxCursor(range)
        guard let entry = try entries.next(in: bytes), let coding = HEIFCoding(type: entry.type) else { return }
        self.coding = coding
        let start = entry.contents.lowerBound
        size = try PixelSize(width: bytes.bigEndian16(at: start + 24), height: bytes.bigEndian16(at: start + 26))
        var boxes = BoxCursor(entry.contents.dropFirst(78))
        while let box = try boxes.next(in: bytes) {
            try addBox()
            if box.type == BoxCursor.type("auxi") {
                isAlpha = bytes.hasText("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", at: box.contents.lowerBound + 4)
            } else if properties.count < Self.maximumEntries {
                properties.append(try HEIFProperty(bytes, box: box))
            }
        }
    }

    static func all(_ bytes: RawSpan) throws(ImagingError) -> [HEIFTrack] {
        var boxes = BoxCursor(0..<bytes.byteCount)
        guard let movie = try boxes.next(of: BoxCursor.type("moov"), in: bytes)?.contents else { return [] }
        var children = BoxCursor(movie)
        var tracks: [HEIFTrack] = []
        while let box = try children.next(of: BoxCursor.type("trak"), in: bytes), tracks.count < 8 {
            if let track = try? HEIFTrack(bytes, in: box.contents) { tracks.append(track) }
        }
        return tracks
    }
}

extension HEIFTrack {
    func locations(in bytes: RawSpan) throws(ImagingError) -> [Range<Int>] {
        guard let sizes = tables[BoxCursor.type("stsz")], let runs = tables[BoxCursor.type("stsc")],
            let chunks = tables[BoxCursor.type("stco")] ?? tables[BoxCursor.type("co64")]
        else { throw .cannotDecode(detail: "the tables of a track are missing") }
        let width = tables[BoxCursor.type("stco")] == nil ? 8 : 4
        let size = try bytes.bigEndian32(at: sizes.lowerBound + 4)
        // Each run has at least one frame.
        let runCount = try min(count, bytes.bigEndian32(at: runs.lowerBound + 4))
        var locations: [Range<Int>] = []
        var run = 0
        var perChunk = 0
        for chunk in 0..<(try bytes.bigEndian32(at: chunks.lowerBound + 4)) {
            if locations.count == count { break }
            while run < runCount, try bytes.bigEndian32(at: runs.lowerBound + 8 + 12 * run) <= chunk + 1 {
                perChunk = try bytes.bigEndian32(at: runs.lowerBound + 12 + 12 * run)
                run += 1
            }
            guard perChunk > 0 else { throw .cannotDecode(detail: "a chunk of a track has no frames") }
            var start = try bytes.bigEndian(width, at: chunks.lowerBound + 8 + width * chunk)
            for _ in 0..<min(perChunk, count - locations.count) {
                let length = try size > 0 ? size : bytes.bigEndian32(at: sizes.lowerBound + 12 + 4 * locations.count)
                guard length <= bytes.byteCount - start else {
                    throw .cannotDecode(detail: "the file ends before its pixels do")
                }
                locations.append(start..<start + length)
                start += length
            }
        }
        guard locations.count == count else {
            throw .cannotDecode(detail: "the tables of a track contradict each other")
        }
        return locations
    }

    func delays(in bytes: RawSpan) throws(ImagingError) -> [Int] {
        guard let times = tables[BoxCursor.type("stts")] else { return [Int](repeating: 100, count: count) }
        var delays: [Int] = []
        for run in 0..<(try min(count, bytes.bigEndian32(at: times.lowerBound + 4))) {
            let frames = try bytes.bigEndian32(at: times.lowerBound + 8 + 8 * run)
            let ticks = try bytes.bigEndian32(at: times.lowerBound + 12 + 8 * run)
            let delay = (1000 * ticks + timescale / 2) / timescale
            delays += [Int](repeating: delay, count: min(frames, count - delays.count))
        }
        return delays + [Int](repeating: 100, count: count - delays.count)
    }

    /// Returns the last frame, up to this one, that can be decoded without earlier ones.
    func start(of frame: Int, in bytes: RawSpan) throws(ImagingError) -> Int {
        guard let list = tables[BoxCursor.type("stss")] else { return frame }
        var start = 0
        for index in 0..<min(try bytes.bigEndian32(at: list.lowerBound + 4), Self.maximum) {
            let number = try bytes.bigEndian32(at: list.lowerBound + 8 + 4 * index) - 1
            if 0...frame ~= number { start = max(start, number) }
        }
        return start
    }
}

extension RawSpan {
    /// Reads a duration; nil for the maximum value, which means unknown, and above 2⁶².
    fileprivate func duration(at offset: Int, isLong: Bool) throws(ImagingError) -> Int? {
        let first = try bigEndian32(at: offset)
        guard isLong else { return first == 0xFFFF_FFFF ? nil : first }
        return try first >= 1 << 30 ? nil : first << 32 | bigEndian32(at: offset + 4)
    }
}
