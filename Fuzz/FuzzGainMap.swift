import Memory

@testable import Imaging
@testable import Recipes

/// The statements of files about a gain map, outside of any file: XMP, ISO 21496-1, an index, a camera's segments.
///
/// Numbers that are believed can be written, and are read again as the same.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let file = SharedBytes(UnsafeBufferPointer(start: bytes, count: count))
    file.withBytes { span in
        let all = 0..<span.byteCount
        let packet = XMPPacket(span, at: all)
        for metadata in [GainMapMetadata(packet), GainMapMetadata(span, iso: all)] {
            guard let metadata else { continue }
            precondition([1, 3].contains(metadata.channels.count), "an odd number of components")
            precondition(GainMapMetadata(numbers: metadata.numbers) == metadata, "other numbers are read than written")
            let map = EncodedGainMap(file: SharedBytes([0xFF, 0xD8, 0xFF, 0xD9]), metadata: metadata)
            let joined = JPEGGainMapWriter.joined(SharedBytes([0xFF, 0xD8, 0xFF, 0xD9]), with: map, rights: nil)
            precondition(joined.count < 1 << 14, "a file of \(joined.count) bytes")
        }
        if let headroom = AppleHeadroom(exif: span, range: all), let metadata = headroom.metadata {
            precondition(metadata.appleCurve.count == 256, "a curve of another length")
        }
        var segments = JPEGGainMapSegments()
        segments.read(span, marker: 0xE1, at: all)
        segments.read(span, marker: 0xE2, at: all)
        segments.exif = all
        _ = GainMap.jpeg(span, segments: segments, orientation: QuarterTurn(quarters: 1), countsScans: true)
    }
    return 0
}
