import Recipes

/// Reads datasets of the application record (IIM 4.2 chapter 6).
enum IPTCRecords {
    private static let fields: [Int: SourceRights.Field] = [80: .creator, 110: .credit, 116: .copyright]
    private static let maximumDatasets = 1_000

    static func add(_ bytes: RawSpan, at range: Range<Int>, to rights: inout SourceRights) {
        var texts: [SourceRights.Field: [[UInt8]]] = [:]
        var offset = range.lowerBound
        for _ in 0..<maximumDatasets {
            guard offset + 5 <= range.upperBound, (try? bytes.byte(at: offset)) == 0x1C,
                let record = try? bytes.byte(at: offset + 1), let number = try? bytes.byte(at: offset + 2),
                let count = try? bytes.bigEndian16(at: offset + 3), count < 0x8000,
                offset + 5 + count <= range.upperBound
            else { break }
            if record == 2, let field = fields[number], texts[field, default: []].count < 16 {
                texts[field, default: []].append(bytes.array(offset + 5..<offset + 5 + count))
            }
            offset += 5 + count
        }
        for (field, texts) in texts { rights.add(field, text: Array(texts.joined(separator: Array(", ".utf8)))) }
    }

    /// Finds the records in Photoshop's image resources.
    static func range(inResources bytes: RawSpan, at resources: Range<Int>) -> Range<Int>? {
        var offset = resources.lowerBound
        for _ in 0..<maximumDatasets {
            guard bytes.hasText("8BIM", at: offset), let id = try? bytes.bigEndian16(at: offset + 4),
                let name = try? bytes.byte(at: offset + 6)
            else { return nil }
            // The name (with its length) and the data are padded to even lengths.
            let start = offset + 6 + (name + 2) / 2 * 2
            guard let count = try? bytes.bigEndian32(at: start), count <= resources.upperBound - start - 4 else {
                return nil
            }
            if id == 0x0404 { return start + 4..<start + 4 + count }
            offset = start + 4 + (count + 1) / 2 * 2
        }
        return nil
    }
}
