import CPNG
import Coordination
import Memory

@testable import Imaging
@testable import Recipes

/// PNG files by our own decoder and by libvips: whatever our own takes is what libvips makes of it.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let file = SharedBytes(withRightSums(Array(UnsafeBufferPointer(start: bytes, count: count))))
    // Larger images show nothing that smaller ones do not.
    guard let header = try? ImageHeader.inspect(file), header.format == .png, header.storedSize.area < 1 << 16,
        (try? ImageLibrary.start()) != nil
    else { return 0 }
    for level in [1, 2, 8] {
        let plan = DecodePlan(level: level)
        let quick = try? PNGPixels.decode(
            file, header: header, plan: plan, token: WorkToken(), allocate: { try PlaneMemory(count: $0) })
        guard let quick, quick.isFinished else { continue }
        let slow = try? ImageDecoder.decode(
            file, header: header, plan: plan, limits: .none, token: WorkToken(), lane: .vips)
        guard let slow else { fatalError("libvips refuses the file") }
        precondition(quick.pixels.array == slow.pixels.array, "other pixels")
    }
    return 0
}

/// The file with the checksums that its chunks should have, which no change by chance would keep.
private func withRightSums(_ file: [UInt8]) -> [UInt8] {
    var file = file
    var offset = 8
    while offset + 12 <= file.count {
        let length = file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
        guard length <= file.count - offset - 12 else { break }
        let sum = file[(offset + 4)...].withUnsafeBytes { CPNG_checksum(0, $0.baseAddress, length + 4) }
        for index in 0..<4 { file[offset + 8 + length + index] = UInt8(sum >> UInt32(24 - 8 * index) & 255) }
        offset += 12 + length
    }
    return file
}
