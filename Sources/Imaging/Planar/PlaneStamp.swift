import CPlanar
import Memory
import Recipes

struct PlaneStamp {
    let samples: DecodedImage
    let x: Int
    let y: Int
    /// The covered area, inside the image; the samples repeat to the right and down.
    let coveredSize: PixelSize
    let opacity: Int

    func apply(to planes: CPlanarPlanes) throws(ImagingError) {
        let status = unsafe samples.pixels.withUnsafeBytes { bytes in
            var planes = planes
            var stamp = unsafe CPlanarStamp(
                samples: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), width: Int32(samples.size.width),
                height: Int32(samples.size.height), left: Int32(x), top: Int32(y),
                covered_width: Int32(coveredSize.width), covered_height: Int32(coveredSize.height),
                opacity: Int32(opacity))
            return unsafe CPlanar_stamp(&planes, &stamp)
        }
        guard status == CPlanarDone else { throw .outOfMemory(detail: "no memory for a stamp") }
    }
}

extension DecodedImage {
    func split(to range: PlaneRange) throws(ImagingError) -> DecodedImage {
        precondition(hasAlpha, "the pixels have no alpha")
        let memory = try PlaneMemory(count: 4 * size.area)
        unsafe pixels.withUnsafeBytes { bytes in
            unsafe CPlanar_split(
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bands), size.area,
                range == .limited ? 1 : 0, memory.bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
        }
        return DecodedImage(pixels: memory.finish(), size: size, bands: 4)
    }
}
