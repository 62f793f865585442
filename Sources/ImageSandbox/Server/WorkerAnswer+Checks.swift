package import Imaging
package import Memory

extension WorkerAnswer.ClaimedImage {
    /// Longest color profile in bytes: three tables of the largest size.
    private static let longestProfile = 1 << 20

    /// The image that the worker claims to have left in `memory`; the worker cannot change its pixels any more.
    ///
    /// - Throws: ``ImagingError`` if a part of the claim is false or does not follow from the file's header and the
    ///   plan; ``SharedMemoryError``.
    package func image(
        in memory: inout OutputMemory, of header: ImageHeader, by plan: DecodePlan
    ) throws -> DecodedImage {
        // These checks come before the memory is mapped or read.
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

extension WorkerAnswer {
    /// Largest number of bytes of the encoded file of an image of `size`: more than the dearest pixels take with
    /// everything around them.
    static func mostFileBytes(of size: PixelSize, frames: Int = 1) -> Int { frames * (size.area * 8 + 1 << 16) }

    /// The file that the worker claims to have left in `memory`; the worker cannot change it any more.
    ///
    /// - Throws: ``ImagingError`` if the bytes are not a file of this format, size and number of frames, or more
    ///   than ``mostFileBytes(of:frames:)``; ``SharedMemoryError``.
    package static func file(
        byteCount: Int, in memory: inout OutputMemory, format: ImageFormat, size: PixelSize,
        frames: Int = 1
    ) throws -> SharedBytes {
        guard byteCount <= mostFileBytes(of: size, frames: frames) else {
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
