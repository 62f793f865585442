package import Memory

extension ColorProfile {
    package init?(_ file: SharedBytes) {
        guard let colors = file.withBytes({ ICCProfile($0).colors }) else { return nil }
        self = colors
    }

    package var file: SharedBytes { SharedBytes(written(tags)) }

    /// Returns the profile for published images, with a name, the adaptation of white, and each curve once.
    func file(named name: String) -> [UInt8] {
        func text(_ text: String) -> [UInt8] {
            let units = text.utf16.flatMap { $0.bigEndianBytes() }
            let header = [1, 12].flatMap { UInt32($0).bigEndianBytes() } + Array("enUS".utf8)
            let location = [UInt32(units.count), 28].flatMap { $0.bigEndianBytes() }
            let filling = [UInt8](repeating: 0, count: units.count % 4)
            return Array("mluc".utf8) + [0, 0, 0, 0] + header + location + units + filling
        }
        let adaptation = Array("sf32".utf8) + [0, 0, 0, 0] + Self.adaptation.flatMap { $0.bigEndianBytes() }
        return written([("desc", text(name)), ("cprt", text("CC0")), ("chad", adaptation)] + tags)
    }

    static let displayP3File = displayP3.file(named: "Display P3")

    private func written(_ tags: [(name: String, bytes: [UInt8])]) -> [UInt8] {
        var table = UInt32(tags.count).bigEndianBytes()
        var data: [UInt8] = []
        var offsets: [[UInt8]: Int] = [:]
        let start = Self.headerByteCount + 4 + 12 * tags.count
        for tag in tags {
            let offset = offsets[tag.bytes] ?? start + data.count
            if offsets.updateValue(offset, forKey: tag.bytes) == nil { data += tag.bytes }
            table += Array(tag.name.utf8) + UInt32(offset).bigEndianBytes() + UInt32(tag.bytes.count).bigEndianBytes()
        }
        return header(byteCount: start + data.count) + table + data
    }

    var fileByteCount: Int {
        // Each tag has 12 bytes in the table; the data of a color have 20 bytes.
        Self.headerByteCount + 4 + (1 + primaries.count) * 20 + (1 + primaries.count + curves.count) * 12
            + Set(curves).reduce(0) { $0 + $1.byteCount }
    }

    private static let headerByteCount = 128
    /// D50, the white of the connection space, in 65536ths.
    private static let light: [Int32] = [63_190, 65_536, 54_061]
    /// The Bradford matrix from D65 to D50, in 65536ths.
    private static let adaptation: [Int32] = [68_674, 1_502, -3_290, 1_939, 64_912, -1_119, -605, 988, 49_262]

    private var tags: [(name: String, bytes: [UInt8])] {
        let white = [(name: "wtpt", bytes: Self.xyz(Self.light))]
        let solids = zip(["rXYZ", "gXYZ", "bXYZ"], primaries).map { (name: $0, bytes: Self.xyz($1)) }
        let names = primaries.isEmpty ? ["kTRC"] : ["rTRC", "gTRC", "bTRC"]
        return white + solids + zip(names, curves).map { (name: $0, bytes: $1.tag) }
    }

    private func header(byteCount: Int) -> [UInt8] {
        var header = UInt32(byteCount).bigEndianBytes() + [0, 0, 0, 0, majorVersion, 0, 0, 0]
        header += Array("mntr".utf8) + Array((primaries.isEmpty ? "GRAY" : "RGB ").utf8)
        header += Array((connectsByLab ? "Lab " : "XYZ ").utf8)
        // 2000-01-01 00:00:00: readers require a date.
        header += [0x07, 0xD0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0] + Array("acsp".utf8)
        header += [UInt8](repeating: 0, count: 28) + Self.light.flatMap { $0.bigEndianBytes() }
        return header + [UInt8](repeating: 0, count: Self.headerByteCount - header.count)
    }

    private static func xyz(_ values: [Int32]) -> [UInt8] {
        Array("XYZ ".utf8) + [0, 0, 0, 0] + values.flatMap { $0.bigEndianBytes() }
    }
}

extension ColorProfile.Curve {
    fileprivate var byteCount: Int {
        switch self {
        case .table(let values): 12 + (values.count + 1) / 2 * 4
        case .formula(_, let parameters): 12 + parameters.count * 4
        }
    }

    fileprivate var tag: [UInt8] {
        switch self {
        case .table(let values):
            let samples = values.flatMap { UInt16($0).bigEndianBytes() }
            let filling = [UInt8](repeating: 0, count: values.count % 2 * 2)
            return Array("curv".utf8) + [0, 0, 0, 0] + UInt32(values.count).bigEndianBytes() + samples + filling
        case .formula(let kind, let parameters):
            return Array("para".utf8) + [0, 0, 0, 0, 0, UInt8(kind), 0, 0] + parameters.flatMap { $0.bigEndianBytes() }
        }
    }
}
