package import Imaging
import Memory

extension WorkerAnswer.Picture {
    /// Longest colour profile, in bytes: three tables as long as a table can be.
    private static let longestProfile = 1 << 20

    /// The picture that is said to be in `memory`, whose pixels nobody can change from now on.
    ///
    /// - Throws: Where any of it is not true, or does not follow from the file's head and the plan.
    package func image(
        in memory: inout OutputMemory, of header: ImageHeader, by plan: DecodePlan
    ) throws -> DecodedImage {
        // Before anything is mapped, or even looked at.
        guard try description.pixelByteCount(of: header, by: plan) == pixelCount, delayCount <= plan.frames(of: header),
            profileCount <= Self.longestProfile
        else {
            throw ImagingError.cannotDecode(detail: "the memory does not hold what it is said to")
        }
        try memory.settle(count: pixelCount, tailCount: tailCount)
        var description = description
        var tail = MessageReader(try memory.tail(tailCount, behind: pixelCount))
        description.delays = (0..<delayCount).compactMap { _ in tail.size() }
        if profileCount > 0 {
            description.profile = tail.bytes(profileCount).flatMap { ColorProfile(SharedBytes($0)) }
            if description.profile == nil { throw ImagingError.cannotDecode(detail: "the profile is none") }
        }
        return try DecodedImage(description, pixels: memory.settled(count: pixelCount), of: header, by: plan)
    }
}
