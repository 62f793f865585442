package import Recipes

/// Writes RAW photographs of all makers with previews and metadata but without raw data.
package struct RAWWriter {
    package enum Kind: String, CaseIterable, Sendable {
        case cr2, cr3, nef, nrw, arw, dng, orf, raf, rw2, pef, srw
    }

    package let kind: Kind
    /// JPEG files; Fujifilm and Panasonic files have only one.
    package var previews: [[UInt8]]
    package var sensor = PixelSize(width: 6_000, height: 4_000)
    package var orientation: Int? = 1
    package var isLittleEndian = true
    package var isAdobeRGB = false
    package var packet: [UInt8] = []
    /// Name of the maker; empty for none.
    package var make: String
    /// Number of bytes between the header and the previews, and after them.
    package var gap = 0

    package init(_ kind: Kind, _ previews: [UInt8]...) {
        (self.kind, self.previews) = (kind, previews)
        make =
            switch kind {
            case .cr2, .cr3: "Canon"
            case .nef, .nrw: "NIKON CORPORATION"
            case .arw: "SONY"
            case .dng: "Leica"
            case .orf: "OLYMPUS CORPORATION"
            case .raf: "FUJIFILM"
            case .rw2: "Panasonic"
            case .pef: "PENTAX"
            case .srw: "SAMSUNG"
            }
    }

    package var file: [UInt8] {
        let previewBytes = previews.flatMap { $0 }
        // The length of the header does not depend on the offsets.
        let start = header(previewsAt: 0).count + gap
        let header = header(previewsAt: start)
        return header + [UInt8](repeating: 0, count: start - header.count) + previewBytes
            + [UInt8](repeating: 0, count: gap)
    }

    private func header(previewsAt start: Int) -> [UInt8] {
        var places: [Range<Int>] = []
        var offset = start
        for preview in previews {
            places.append(offset..<offset + preview.count)
            offset += preview.count
        }
        return switch kind {
        case .cr3: boxes(places)
        case .raf: fujifilm(places)
        default: directories(places)
        }
    }
}

/// Writes TIFF directories, each before the ones that refer to it.
private struct DirectoryWriter {
    enum Value {
        case short(Int)
        case long(Int)
        case longs([Int])
        case bytes([UInt8], type: Int = 7)
        case pointer(Int, type: Int, count: Int)
    }

    typealias Entry = (tag: Int, value: Value)

    let isLittleEndian: Bool
    private(set) var bytes: [UInt8]

    init(isLittleEndian: Bool, start: [UInt8]) { (self.isLittleEndian, bytes) = (isLittleEndian, start) }

    func number(_ value: Int, _ size: Int) -> [UInt8] {
        let bytes = (0..<size).map { UInt8(value >> (8 * $0) & 255) }
        return isLittleEndian ? bytes : bytes.reversed()
    }

    mutating func append(_ more: [UInt8]) -> Int {
        bytes += more
        if !bytes.count.isMultiple(of: 2) { bytes.append(0) }
        return bytes.count - more.count - more.count % 2
    }

    mutating func directory(_ entries: [Entry], next: Int = 0) -> Int {
        var table: [UInt8] = number(entries.count, 2)
        for (tag, value) in entries.sorted(by: { $0.tag < $1.tag }) {
            let (type, count, data): (Int, Int, [UInt8]) =
                switch value {
                case .pointer(let address, let type, let count): (type, count, number(address, 4))
                case .short(let value): (3, 1, number(value, 2) + [0, 0])
                case .long(let value): (4, 1, number(value, 4))
                case .longs(let values): (4, values.count, values.flatMap { number($0, 4) })
                case .bytes(let bytes, let type): (type, bytes.count, bytes)
                }
            table += number(tag, 2) + number(type, 2) + number(count, 4)
            table +=
                data.count <= 4 ? data + [UInt8](repeating: 0, count: 4 - data.count) : number(append(data), 4)
        }
        return append(table + number(next, 4))
    }

    mutating func link(_ address: Int, at place: Int = 4) {
        bytes.replaceSubrange(place..<place + 4, with: number(address, 4))
    }
}

extension RAWWriter {
    private func directories(_ places: [Range<Int>]) -> [UInt8] {
        let magic =
            switch kind {
            case .orf: 0x4F52
            case .rw2: 0x55
            default: 42
            }
        var writer = DirectoryWriter(isLittleEndian: isLittleEndian, start: Array((isLittleEndian ? "II" : "MM").utf8))
        _ = writer.append(writer.number(magic, 2) + [0, 0, 0, 0] + (kind == .cr2 ? Array("CR\u{2}\0".utf8) : []))
        func pointed(_ place: Range<Int>) -> [DirectoryWriter.Entry] {
            [(254, .long(1)), (259, .short(6)), (0x201, .long(place.lowerBound)), (0x202, .long(place.count))]
        }
        func strip(_ place: Range<Int>, compression: Int) -> [DirectoryWriter.Entry] {
            [
                (254, .long(1)), (259, .short(compression)), (262, .short(6)), (273, .long(place.lowerBound)),
                (279, .long(place.count)),
            ]
        }
        let size: [DirectoryWriter.Entry] = [(256, .long(sensor.width)), (257, .long(sensor.height))]
        let samples = size + [(254, .long(0)), (259, .short(34_713)), (262, .short(32_803))]
        var main: [DirectoryWriter.Entry] = []
        if !make.isEmpty { main.append((0x10F, .bytes(Array(make.utf8) + [0], type: 2))) }
        if let orientation { main.append((0x112, .short(orientation))) }
        if !packet.isEmpty { main.append((700, .bytes(packet, type: 1))) }
        main.append((0x8769, .long(exposure(places, &writer))))
        var (children, next): ([Int], Int) = ([], 0)
        switch kind {
        case .nef, .srw, .dng:
            children = places.map {
                writer.directory(kind == .dng ? strip($0, compression: 7) : pointed($0))
            }
            children.append(writer.directory(samples))
            main.append((254, .long(1)))
            if kind == .dng { main.append((0xC612, .bytes([1, 4, 0, 0], type: 1))) }
        case .arw, .nrw:
            children = [writer.directory(samples)]
            for place in places.dropFirst().reversed() { next = writer.directory(pointed(place), next: next) }
            main += places.prefix(1).flatMap(pointed)
        case .pef:
            for place in places.reversed() { next = writer.directory(pointed(place), next: next) }
            main += samples
        case .cr2:
            let lossless = frame
            next = writer.directory(strip(writer.append(lossless)..<writer.bytes.count, compression: 6))
            for place in places.dropFirst().reversed() { next = writer.directory(pointed(place), next: next) }
            main += places.prefix(1).flatMap { strip($0, compression: 6) }
        case .orf: main += size + [(262, .short(1))]
        case .rw2:
            main += [(2, .short(sensor.width)), (3, .short(sensor.height))]
            if let place = places.first { main.append((46, .pointer(place.lowerBound, type: 7, count: place.count))) }
        case .cr3, .raf: break
        }
        if !children.isEmpty { main.append((330, children.count == 1 ? .long(children[0]) : .longs(children))) }
        writer.link(writer.directory(main, next: next))
        return writer.bytes
    }

    /// The start of a lossless JPEG with two components for neighboring samples.
    private var frame: [UInt8] {
        [0xFF, 0xD8, 0xFF, 0xC3, 0, 14, 14] + sensor.height.bigEndian16 + (sensor.width / 2).bigEndian16
            + [2, 1, 0x11, 0, 2, 0x11, 0]
    }

    private func exposure(_ places: [Range<Int>], _ writer: inout DirectoryWriter) -> Int {
        var entries: [DirectoryWriter.Entry] = [(0xA001, .short(isAdobeRGB ? 2 : 1))]
        if let place = places.first, kind == .orf {
            let note = olympus(place, at: writer.bytes.count)
            entries.append((0x927C, .pointer(writer.append(note), type: 7, count: note.count)))
        }
        return writer.directory(entries)
    }

    /// A preview's directory in a maker note; offsets are relative to the note.
    private func olympus(_ preview: Range<Int>, at note: Int) -> [UInt8] {
        func entry(_ tag: Int, _ type: Int, _ value: Int) -> [UInt8] {
            tag.littleEndian16 + type.littleEndian16 + 1.littleEndian32 + value.littleEndian32
        }
        return Array("OLYMPUS\0II\u{3}\0".utf8) + 1.littleEndian16 + entry(0x2020, 13, 30) + 0.littleEndian32
            + 2.littleEndian16 + entry(0x101, 4, max(0, preview.lowerBound - note)) + entry(0x102, 4, preview.count)
            + 0.littleEndian32
    }

    private func fujifilm(_ places: [Range<Int>]) -> [UInt8] {
        let place = places.first ?? 0..<0
        let table =
            1.bigEndian32 + 0x100.bigEndian16 + 4.bigEndian16 + sensor.height.bigEndian16 + sensor.width.bigEndian16
        return Array("FUJIFILMCCD-RAW ".utf8) + [UInt8](repeating: 0x30, count: 68)
            + [place.lowerBound, place.count, 108, table.count, 0, 0].flatMap(\.bigEndian32) + table
    }

    private func boxes(_ places: [Range<Int>]) -> [UInt8] {
        func identified(_ identifier: String, _ contents: [UInt8]) -> [UInt8] {
            let digits = Array(identifier.utf8)
            let bytes = stride(from: 0, to: digits.count, by: 2).map {
                UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) ?? 0
            }
            return HEIFBox.box("uuid", bytes + contents)
        }
        func block(_ entries: [DirectoryWriter.Entry]) -> [UInt8] {
            var writer = DirectoryWriter(isLittleEndian: true, start: Array("II*\0\0\0\0\0".utf8))
            writer.link(writer.directory(entries))
            return writer.bytes
        }
        var main: [DirectoryWriter.Entry] = [
            (256, .short(sensor.width)), (257, .short(sensor.height)), (0x10F, .bytes(Array(make.utf8) + [0], type: 2)),
        ]
        if let orientation { main.append((0x112, .short(orientation))) }
        let metadata =
            HEIFBox.box("CMT1", block(main)) + HEIFBox.box("CMT2", block([(0xA001, .short(isAdobeRGB ? 2 : 1))]))
        var movie = identified("85c0b687820f11e08111f4ce462b6a48", metadata)
        if let place = places.first { movie += track(place) }
        var file = HEIFBox.box("ftyp", Array("crx \0\0\0\u{1}crx isom".utf8)) + HEIFBox.box("moov", movie)
        if !packet.isEmpty { file += identified("be7acfcb97a942e89c71999491e3afac", packet) }
        // The first preview is the data of a track, the second one a box with a length.
        if previews.count > 1 {
            let preview = [UInt8](repeating: 0, count: 12) + previews[1].count.bigEndian32 + previews[1]
            let contents = [UInt8](repeating: 0, count: 8) + HEIFBox.box("PRVW", preview)
            file += identified("eaf42b5e1c984b88b9fbb7dc406e4d16", contents)
        }
        return file + (8 + 2 * gap + previews.reduce(0) { $0 + $1.count }).bigEndian32 + Array("mdat".utf8)
    }

    private func track(_ place: Range<Int>) -> [UInt8] {
        let entry = HEIFBox.box(
            "CRAW",
            [UInt8](repeating: 0, count: 24) + 640.bigEndian16 + 480.bigEndian16 + [UInt8](repeating: 0, count: 54)
                + HEIFBox.box("JPEG", [0, 0, 0, 0]))
        let none: [UInt8] = [0, 0, 0, 0]
        let table =
            HEIFBox.box("stsd", none + 1.bigEndian32 + entry)
            + HEIFBox.box("stsz", none + place.count.bigEndian32 + 1.bigEndian32)
            + HEIFBox.box("co64", none + 1.bigEndian32 + none + place.lowerBound.bigEndian32)
        return HEIFBox.box("trak", HEIFBox.box("mdia", HEIFBox.box("minf", HEIFBox.box("stbl", table))))
    }
}
