import Glibc

/// Writes small ICC profiles; this file: RGB spaces with three primaries.
package enum ICCWriter {
    /// The transfer curve.
    package enum Curve: Sendable {
        /// gamma in 256ths
        case gamma(Int)
        /// sRGB's curve as a parametric curve
        case standard
        /// sRGB's curve as a table with this number of entries, as in most files
        case standardTable(Int)
    }

    /// sRGB's primaries in the connection space.
    package static let standardPrimaries = [
        [0.4361, 0.2225, 0.0139], [0.3851, 0.7169, 0.0971], [0.1431, 0.0606, 0.7139],
    ]

    /// A profile with these primaries: red, green, blue.
    package static func profile(primaries: [[Double]] = standardPrimaries, curve: Curve = .standard) -> [UInt8] {
        let curve = tag(curve)
        let tags: [(String, [UInt8])] = [
            ("desc", text("desc", "Test")), ("cprt", text("text", "None")), ("wtpt", xyz([0.9642, 1, 0.8249])),
            ("rXYZ", xyz(primaries[0])), ("gXYZ", xyz(primaries[1])), ("bXYZ", xyz(primaries[2])),
            ("rTRC", curve), ("gTRC", curve), ("bTRC", curve),
        ]
        return file(space: "RGB ", tags: tags)
    }

    /// A profile with these tags and the connection space XYZ.
    static func file(space: String, tags: [(String, [UInt8])]) -> [UInt8] {
        var table = tags.count.bigEndian32
        var data: [UInt8] = []
        let start = 128 + 4 + 12 * tags.count
        for (name, bytes) in tags {
            table += Array(name.utf8) + (start + data.count).bigEndian32 + bytes.count.bigEndian32
            data += bytes
        }
        return header(space: space, size: start + data.count) + table + data
    }

    private static func header(space: String, size: Int) -> [UInt8] {
        let words: [[UInt8]] = [
            size.bigEndian32, [0, 0, 0, 0], [2, 0x40, 0, 0], Array("mntr".utf8), Array(space.utf8),
            Array("XYZ ".utf8), [7, 0xD0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0], Array("acsp".utf8),
        ]
        let head = words.flatMap { $0 } + [UInt8](repeating: 0, count: 28)
        let light = fixed(0.9642) + fixed(1) + fixed(0.8249)
        return head + light + [UInt8](repeating: 0, count: 128 - head.count - light.count)
    }

    static func tag(_ curve: Curve) -> [UInt8] {
        switch curve {
        case .gamma(let power):
            Array("curv".utf8) + [0, 0, 0, 0] + 1.bigEndian32 + power.bigEndian16 + [0, 0]
        case .standardTable(let count):
            Array("curv".utf8) + [0, 0, 0, 0] + count.bigEndian32
                + (0..<count).flatMap { light(Double($0) / Double(count - 1)).bigEndian16 }
        case .standard:
            Array("para".utf8) + [0, 0, 0, 0, 0, 3, 0, 0]
                + [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045].flatMap(fixed)
        }
    }

    /// The linear value of an sRGB component in 65535ths.
    private static func light(_ component: Double) -> Int {
        let light = component <= 0.04045 ? component / 12.92 : pow((component + 0.055) / 1.055, 2.4)
        return Int((light * 65_535).rounded())
    }

    static func xyz(_ values: [Double]) -> [UInt8] {
        Array("XYZ ".utf8) + [0, 0, 0, 0] + values.flatMap(fixed)
    }

    private static func text(_ type: String, _ text: String) -> [UInt8] {
        let bytes = Array(text.utf8) + [0]
        let description = type == "desc" ? bytes.count.bigEndian32 + bytes + [UInt8](repeating: 0, count: 78) : bytes
        let tag = Array(type.utf8) + [0, 0, 0, 0] + description
        return tag + [UInt8](repeating: 0, count: (4 - tag.count % 4) % 4)
    }

    private static func fixed(_ value: Double) -> [UInt8] {
        Int((value * 65_536).rounded()).bigEndian32
    }
}
