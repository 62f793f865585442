import Coordination
import Memory

@testable import Imaging

/// PNG files by our own decoder and by libvips: whatever our own takes is what libvips makes of it.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let file = SharedBytes(UnsafeBufferPointer(start: bytes, count: count))
    // Larger images show nothing that smaller ones do not.
    guard let header = try? ImageHeader.inspect(file), header.format == .png, header.storedSize.area < 1 << 16,
        (try? ImageLibrary.start()) != nil
    else { return 0 }
    for level in [1, 2, 8] {
        let plan = DecodePlan(level: level)
        let quick = try? PNGPixels.decode(
            file, header: header, plan: plan, token: WorkToken(), room: { PlaneMemory(count: $0) })
        guard let quick, quick.isFinished else { continue }
        let slow = try? ImageDecoder.decode(
            file, header: header, plan: plan, limits: .none, token: WorkToken(), lane: .vips)
        guard let slow else { fatalError("libvips refuses the file") }
        precondition(quick.pixels.array == slow.pixels.array, "other pixels")
    }
    return 0
}
