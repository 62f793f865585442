import Coordination
import Memory

@testable import Imaging
@testable import Recipes

/// Pixels of all kinds of colors.
private let pixels = SharedBytes((0..<64 * 64 * 3).map { UInt8(truncatingIfNeeded: $0 &* 37) })
private let size = PixelSize(width: 64, height: 64)
private let photo: [UInt8] = {
    do {
        try ImageLibrary.start()
        return try ImageEncoder.encode(pixels: pixels.array, size: size, bands: 3, format: .jpeg, quality: 80).bytes
            .array
    } catch {
        fatalError("\(error)")
    }
}()

/// ICC profiles: what is taken of one is written as a profile that reads back the same, colors are converted by its
/// numbers, and an image with it is decoded for a gamut, or refused.
///
/// The color engine takes most of the time, so each input is decoded for one of both.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let profile = Array(UnsafeBufferPointer(start: bytes, count: min(count, 65_519)))
    _ = SourceColors(profile: profile.span.bytes)
    if let colors = ColorProfile(SharedBytes(profile)) {
        precondition(ColorProfile(colors.file) == colors, "the numbers are not read back")
        if colors.describes(bands: 3) {
            let image = DecodedImage(pixels: pixels, size: size, bands: 3, profile: colors)
            let shown = try? image.interleavedInSRGB(token: WorkToken())
            precondition(shown?.pixels.count == pixels.count, "pixels are lost")
        }
    }
    let length = profile.count + 16
    let segment =
        [0xFF, 0xE2, UInt8(length >> 8), UInt8(length & 255)] + Array("ICC_PROFILE\0".utf8) + [1, 1] + profile
    let file = SharedBytes(photo[..<2] + segment + photo[2...])
    guard let header = try? ImageHeader.inspect(file) else { fatalError("the image has lost its header") }
    let choice = profile.reduce(0, ^)
    let (gamut, lane): (DecodedGamut, ImageDecoder.Lane) = (
        choice & 1 == 0 ? .mapped : .displayP3, choice & 2 == 0 ? .planar : .vips
    )
    _ = try? ImageDecoder.decode(
        file, header: header, plan: DecodePlan(gamut: gamut), limits: .none, token: WorkToken(), lane: lane)
    return 0
}
