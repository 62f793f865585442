import Glibc
import Recipes

/// The headroom, computed from two numbers in the maker notes.
///
/// Follows Apple's article "Applying Apple HDR effect to your photos".
struct AppleHeadroom {
    let value: Double
    static let space = "http://ns.apple.com/HDRGainMap/1.0/"

    private static let headroom = 0x21
    private static let gain = 0x30
    private static let maximumEntries = 256

    init?(decimal text: [UInt8]) {
        guard let declared = GainMapMetadata.Fraction(decimal: text)?.value, declared > 1, declared < 65_536 else {
            return nil
        }
        value = declared
    }

    init?(headroom: Double, gain: Double) {
        let stops =
            if headroom < 1 {
                gain <= 0.01 ? -20 * gain + 1.8 : -0.101 * gain + 1.601
            } else {
                gain <= 0.01 ? -70 * gain + 3 : -0.303 * gain + 2.303
            }
        // False for a NaN.
        guard stops > 0, stops < 16 else { return nil }
        value = exp2(stops)
    }

    /// Reads EXIF data, with or without the leading `Exif` of JPEG; nil without maker notes.
    init?(exif bytes: RawSpan, range: Range<Int>) {
        guard let exifIFD = EXIFDirectory.number(EXIFDirectory.exifIFD, of: bytes, in: range) else { return nil }
        var numbers: [Int: Double] = [:]
        try? EXIFDirectory.read(bytes, in: range, at: exifIFD) { (entry, block) throws(ImagingError) in
            guard entry.tag == EXIFDirectory.makerNote else { return true }
            // Offsets in the notes are relative to their start.
            let notes = block.extracting(try entry.valueOffset(in: block)..<block.byteCount)
            guard notes.hasText("Apple iOS\0", at: 0), notes.hasText("MM", at: 12) else { return false }
            for index in 0..<min(try notes.bigEndian16(at: 14), Self.maximumEntries) {
                let entryOffset = 16 + index * EXIFDirectory.entryLength
                let tag = try notes.bigEndian16(at: entryOffset)
                let type = try notes.bigEndian16(at: entryOffset + 2)
                guard [Self.headroom, Self.gain].contains(tag), type == 10 || type == 5 else { continue }
                let value = try notes.bigEndian32(at: entryOffset + 8)
                let numerator = Int32(truncatingIfNeeded: try notes.bigEndian32(at: value))
                let denominator = Int32(truncatingIfNeeded: try notes.bigEndian32(at: value + 4))
                if denominator != 0 { numbers[tag] = Double(numerator) / Double(denominator) }
            }
            return false
        }
        guard let headroom = numbers[Self.headroom], let gain = numbers[Self.gain] else { return nil }
        self.init(headroom: headroom, gain: gain)
    }

    /// The metadata of the map after ``curve`` is applied: gains up to the headroom.
    var metadata: GainMapMetadata? {
        let maximum = GainMapMetadata.Fraction(Int((log2(value) * 1_000_000).rounded()), 1_000_000)
        var channel = GainMapMetadata.Channel(maximum: maximum)
        channel.baseOffset = .init(0)
        channel.alternateOffset = .init(0)
        return GainMapMetadata(alternateHeadroom: maximum, channels: [channel]).checked
    }
}
