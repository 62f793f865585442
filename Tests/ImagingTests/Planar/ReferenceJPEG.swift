import CJPEGReference
import Coordination
import Glibc
import Memory

@testable import Imaging
@testable import Recipes

/// A JPEG written by libjpeg, and its samples decoded by a simple reference.
struct ReferenceJPEG: CustomStringConvertible {
    let file: SharedBytes
    let isProgressive: Bool
    let description: String

    /// Noise on gradients; `sampling` has the factors of each component, and `oddity` is a flag to set.
    init(
        _ size: (Int, Int), sampling: [(Int, Int)] = [(2, 2), (1, 1), (1, 1)], quality: Int = 90, noise: Int = 40,
        isOptimized: Bool = false, restartInterval: Int = 0, isProgressive: Bool = false, seed: UInt32 = 1,
        oddity: WritableKeyPath<CJPEGReferenceImage, Int32>? = nil
    ) {
        var image = CJPEGReferenceImage()
        (image.width, image.height, image.component_count) = (Int32(size.0), Int32(size.1), Int32(sampling.count))
        let all = sampling + [(1, 1), (1, 1)]
        image.across = (Int32(all[0].0), Int32(all[1].0), Int32(all[2].0))
        image.down = (Int32(all[0].1), Int32(all[1].1), Int32(all[2].1))
        (image.quality, image.noise, image.seed) = (Int32(quality), Int32(noise), seed)
        (image.is_optimized, image.is_progressive) = (isOptimized ? 1 : 0, isProgressive ? 1 : 0)
        image.restart_interval = Int32(restartInterval)
        if let oddity { image[keyPath: oddity] = 1 }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = unsafe CJPEGReference_encode(&image, &bytes)
        file = unsafe SharedBytes(Array(UnsafeBufferPointer(start: bytes, count: count)))
        unsafe free(bytes)
        self.isProgressive = isProgressive
        description =
            "\(size) by \(sampling), quality \(quality), noise \(noise), restarts \(restartInterval), seed \(seed)"
            + (isOptimized ? ", optimized" : "") + (isProgressive ? ", progressive" : "")
    }

    /// Wraps an existing file.
    init(_ file: some Sequence<UInt8>, isProgressive: Bool = false) {
        let file = Array(file)
        self.file = SharedBytes(file)
        self.isProgressive = isProgressive
        description = "\(file.count) bytes"
    }

    /// Decodes in the planar lane.
    func decode(
        level: Int, coarser: [Int] = [], by decoder: JPEGDecoder = .fast, token: WorkToken = WorkToken(),
        whenHeaderIsRead action: () -> Void = {}
    ) throws -> DecodedImage {
        try ImageLibrary.start()
        let plan = DecodePlan(level: level, incompleteImages: .serve).with(coarserLevels: coarser)
        return try ImageDecoder.decode(
            file, header: .inspect(file), plan: plan, limits: .none, token: token, lane: .planar, jpeg: decoder,
            allocate: { count in
                action()
                return try PlaneMemory(count: count)
            })
    }

    /// Samples of the same planes as in `image`, computed from libjpeg's coefficients of the visible scans.
    func referenceSamples(of image: DecodedImage, level: Int) -> [[UInt8]] {
        guard case .planar(let planes, _) = image.layout else { return [] }
        let bytes = isProgressive ? shownScans(level: level) : file.array
        return planes.indices.map { index in
            let size = planes[index].size
            var samples = [UInt8](repeating: 0, count: size.area)
            let warnings = unsafe CJPEGReference_decode(
                bytes, bytes.count, Int32(level), Int32(index), &samples, size.width, Int32(size.width),
                Int32(size.height))
            return warnings == 0 ? samples : []
        }
    }

    /// The file without the scans that are not visible at the level.
    private func shownScans(level: Int) -> [UInt8] {
        let scans = JPEGScans(shownAt: level)
        var shown: [UInt8] = []
        file.withBytes { bytes in
            var (start, offset) = (0, 2)
            while let (marker, next) = bytes.jpegMarker(from: offset), let end = bytes.jpegSegmentEnd(at: next) {
                offset = end
                guard marker == 0xDA else { continue }
                let place = end - 3
                let first = Int(file.array[place]), bits = Int(file.array[place + 2])
                let isShown =
                    first == 0 || bits & 15 >= scans.minimumBitsBefore
                    || first <= scans.highestStart && (bits >> 4 == 0 || bits >> 4 >= scans.minimumBitsBefore)
                if isShown { continue }
                shown += file.array[start..<next - 2]
                start = (bytes.jpegMarker(from: end)?.next ?? bytes.byteCount) - 2
            }
            shown += file.array[start...]
        }
        return shown
    }
}

extension DecodedImage {
    /// Samples of each plane without row padding.
    var samples: [[UInt8]] {
        guard case .planar(let planes, _) = layout else { return [] }
        let bytes = pixels.array
        return planes.map { plane in
            (0..<plane.size.height).flatMap { row in
                bytes[plane.offset + row * plane.stride..<plane.offset + row * plane.stride + plane.size.width]
            }
        }
    }
}
