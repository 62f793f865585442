package import Imaging
package import Memory

extension WorkerResponse.ClaimedImage {
    /// The maximum size of a color profile in bytes: three tables of the largest size.
    private static let longestProfile = 1 << 20

    /// Returns the image that the worker reports in `memory`; the worker cannot change its pixels any more.
    ///
    /// - Throws: ``ImagingError`` if a part of the report is false or contradicts the file's header and the plan;
    ///   ``SharedMemoryError``.
    package func image(
        in memory: inout OutputMemory, of header: ImageHeader, by plan: DecodePlan
    ) throws -> DecodedImage {
        // These checks precede mapping or reading the memory.
        guard try description.pixelByteCount(of: header, by: plan) == pixelCount, delayCount <= plan.frames(of: header),
            profileCount <= Self.longestProfile
        else {
            throw ImagingError.cannotDecode(detail: "the worker's memory does not hold what it claims")
        }
        try memory.settle(count: pixelCount, tailCount: tailCount)
        var description = description
        var tail = MessageReader(try memory.tail(tailCount, behind: pixelCount))
        description.delays = (0..<delayCount).compactMap { _ in tail.size() }
        if profileCount > 0 {
            description.profile = tail.bytes(profileCount).flatMap { ColorProfile(SharedBytes($0)) }
            if description.profile == nil { throw ImagingError.cannotDecode(detail: "the color profile is invalid") }
        }
        return try DecodedImage(description, pixels: memory.settled(count: pixelCount), of: header, by: plan)
    }
}

extension WorkerResponse {
    /// Returns the maximum size of an encoded file for an image of `size`: more than the largest pixels with all
    /// metadata.
    static func maximumFileBytes(of size: PixelSize, frames: Int = 1) -> Int { frames * (size.area * 8 + 1 << 16) }

    /// Returns the file that the worker reports in `memory`; the worker cannot change it any more.
    ///
    /// - Throws: ``ImagingError`` if the bytes are not a file of this format, size and number of frames, or exceed
    ///   ``maximumFileBytes(of:frames:)``; ``SharedMemoryError``.
    package static func file(
        byteCount: Int, in memory: inout OutputMemory, format: ImageFormat, size: PixelSize,
        frames: Int = 1
    ) throws -> SharedBytes {
        guard byteCount <= maximumFileBytes(of: size, frames: frames) else {
            throw ImagingError.encodeFailed(detail: "\(byteCount) bytes for \(size)")
        }
        try memory.settle(count: byteCount)
        let file = try memory.settled(count: byteCount)
        let header = try ImageHeader.inspect(file)
        guard header.format == format, header.storedSize == size, header.frames == frames else {
            throw ImagingError.encodeFailed(detail: "the file is not a \(format) of \(size)")
        }
        return file
    }
}
