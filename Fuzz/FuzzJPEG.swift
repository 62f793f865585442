import CJPEGReference
import Coordination
import Memory

@testable import Imaging
@testable import Recipes

/// JPEG files by the fast decoder, libjpeg and a plain reference: whatever the fast decoder takes is what the others
/// make of it.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let file = SharedBytes(UnsafeBufferPointer(start: bytes, count: count))
    // Larger images show nothing that smaller ones do not.
    guard let header = try? ImageHeader.inspect(file), header.format == .jpeg, header.storedSize.area < 1 << 16 else {
        return 0
    }
    for level in [2, 4, 8] {
        guard let fast = decode(file, header, level, .fast), fast.jpegDecoding == .fast else { continue }
        guard let slow = decode(file, header, level, .libjpeg) else { fatalError("libjpeg refuses the file") }
        precondition(!slow.isIncomplete, "libjpeg finds pixels missing")
        let shape = fast.description
        precondition(shape.planes == slow.description.planes, "other planes")
        if level == 8 {
            precondition(samples(fast) == samples(slow), "other samples than libjpeg's")
            continue
        }
        if header.isProgressive { continue }
        let stored = header.orientation == .none
        for (index, own) in samples(fast).enumerated() where stored {
            let size = shape.planes[index].size
            var expected = [UInt8](repeating: 0, count: size.area)
            let warnings = CJPEGReference_decode(
                bytes, count, Int32(level), Int32(index), &expected, size.width, Int32(size.width), Int32(size.height))
            // The reference also reads what is behind the scan.
            precondition(warnings < 0 || own == expected, "other samples than the reference's")
        }
    }
    return 0
}

private func decode(_ file: SharedBytes, _ header: ImageHeader, _ level: Int, _ decoder: JPEGDecoder) -> DecodedImage? {
    let plan = DecodePlan(level: level, incompleteImages: .serve)
    let reading = try? JPEGPlanes.decode(
        file, header: header, plan: plan, token: WorkToken(), allocate: { try PlaneMemory(count: $0) }, decoder: decoder
    )
    guard case .decoded(let image) = reading else { return nil }
    return image
}

private func samples(_ image: DecodedImage) -> [[UInt8]] {
    guard case .planar(let planes, _) = image.layout else { return [] }
    let bytes = image.pixels.array
    return planes.map { plane in
        (0..<plane.size.height).flatMap { row in
            bytes[plane.offset + row * plane.stride..<plane.offset + row * plane.stride + plane.size.width]
        }
    }
}
