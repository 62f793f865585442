package import Imaging
import Memory

extension WorkerAnswer.Picture {
    /// Longest colour profile, in bytes: three tables as long as a table can be.
    private static let longestProfile = 1 << 20

    /// The picture that is said to be in `memory`, whose pixels nobody can change from now on.
    ///
    /// - Throws: Where any of it is not true, or does not follow from the file's head and the plan.
    package func image(
        in memory: inout KeptMemory, of header: ImageHeader, by plan: DecodePlan
    ) throws -> DecodedImage {
        try memory.settle(byteCount: byteCount)
        guard pixelCount > 0, delayCount <= header.frames, profileCount <= Self.longestProfile else {
            throw ImagingError.cannotDecode(detail: "the memory does not hold what it is said to")
        }
        var description = description
        var start = pixelCount
        var delays = MessageReader(try memory.memory.bytes(start..<start + 4 * delayCount))
        description.delays = (0..<delayCount).compactMap { _ in delays.size() }
        start += 4 * delayCount
        if profileCount > 0 {
            description.profile = ColorProfile(SharedBytes(try memory.memory.bytes(start..<start + profileCount)))
            if description.profile == nil { throw ImagingError.cannotDecode(detail: "the profile is none") }
        }
        return try DecodedImage(description, pixels: memory.settled(count: pixelCount), of: header, by: plan)
    }
}
