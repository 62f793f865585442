package import Imaging
import Memory

extension WorkerAnswer.Picture {
    /// Longest colour profile, in bytes: three tables as long as a table can be.
    private static let longestProfile = 1 << 20

    /// The picture that is said to be in `memory`, whose pixels nobody can change from now on: they are copied, or sealed.
    ///
    /// - Throws: Where any of it is not true, or does not follow from the file's head and the plan.
    package func image(
        in memory: inout KeptMemory, of header: ImageHeader, by plan: DecodePlan
    ) throws -> DecodedImage {
        if !isCopied {
            memory.unmap()
            try memory.memory.seal()
        }
        guard pixelCount > 0, delayCount <= header.frames, profileCount <= Self.longestProfile,
            try isCopied || memory.memory.byteCount() == byteCount
        else { throw ImagingError.cannotDecode(detail: "the memory does not hold what it is said to") }
        var description = description
        var start = pixelCount
        var delays = MessageReader(try memory.memory.bytes(start..<start + 4 * delayCount))
        description.delays = (0..<delayCount).compactMap { _ in delays.size() }
        start += 4 * delayCount
        if profileCount > 0 {
            description.profile = ColorProfile(SharedBytes(try memory.memory.bytes(start..<start + profileCount)))
            if description.profile == nil { throw ImagingError.cannotDecode(detail: "the profile is none") }
        }
        let pixels = try isCopied ? memory.copied(count: pixelCount) : memory.memory.mapped(count: pixelCount)
        return try DecodedImage(description, pixels: pixels, of: header, by: plan)
    }
}
