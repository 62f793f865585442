package import Imaging
package import Memory
package import Recipes

extension WorkerResponse.ClaimedImage {
    /// The limit in bytes: three tables of the largest size.
    private static let maximumProfileSize = 1 << 20

    /// Returns the checked image; the worker can no longer change its pixels.
    package func image(
        in memory: inout OutputMemory, of header: ImageHeader, by plan: DecodePlan
    ) throws -> DecodedImage {
        // Check these before mapping or reading the memory.
        let levels = zip(coarser, plan.coarserLevels.map { plan.with(level: $0) }).map { (description: $0, plan: $1) }
        var ends = [try description.pixelByteCount(of: header, by: plan)]
        for level in levels {
            ends.append(ends[ends.count - 1] + (try level.description.pixelByteCount(of: header, by: level.plan)))
        }
        guard coarser.count == levels.count, delayCount <= plan.frames(of: header),
            profileCount <= Self.maximumProfileSize,
            plan.coarserLevels.isEmpty ? ends[0] == pixelCount : ends[levels.count] <= pixelCount
        else {
            throw ImagingError.cannotDecode(detail: "the worker's memory does not match its response")
        }
        try memory.seal(count: pixelCount, tailCount: tailCount)
        var description = description
        var tail = MessageCoder(reading: try memory.tail(tailCount, after: pixelCount))
        description.delays = (0..<delayCount).map { _ in tail.size(0) }
        if profileCount > 0 {
            description.profile = ColorProfile(SharedBytes(tail.bytes(profileCount)))
            if description.profile == nil { throw ImagingError.cannotDecode(detail: "the color profile is invalid") }
        }
        let pixels = try memory.sealed(count: pixelCount)
        guard ends[0] < pixelCount else {
            return try DecodedImage(description, pixels: pixels, of: header, by: plan)
        }
        let images = try levels.enumerated().map { index, level in
            var claimed = level.description
            claimed.profile = description.profile
            return try DecodedImage(
                claimed, pixels: SharedBytes(ends[index]..<ends[index + 1], of: pixels), of: header, by: level.plan)
        }
        return try DecodedImage(description, pixels: SharedBytes(0..<ends[0], of: pixels), of: header, by: plan)
            .with(coarser: images)
    }
}

extension WorkerResponse {
    /// Returns an upper bound for a file: the largest pixels with all metadata.
    static func maximumFileBytes(of size: PixelSize, frames: Int = 1) -> Int { frames * (size.area * 8 + 1 << 16) }

    package static func file(
        byteCount: Int, in memory: inout OutputMemory, format: ImageFormat, size: PixelSize, frames: Int = 1
    ) throws -> SharedBytes {
        guard byteCount <= maximumFileBytes(of: size, frames: frames) else {
            throw ImagingError.encodeFailed(detail: "\(byteCount) bytes for \(size)")
        }
        try memory.seal(count: byteCount)
        let file = try memory.sealed(count: byteCount)
        let header = try ImageHeader.inspect(file)
        guard header.format == format, header.storedSize == size, header.frames == frames else {
            throw ImagingError.encodeFailed(detail: "the file is not a \(format) of \(size)")
        }
        return file
    }
}
