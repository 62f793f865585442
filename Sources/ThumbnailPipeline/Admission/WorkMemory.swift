import Coordination
import Imaging
import Memory

/// What work on an image pays in memory before it begins.
struct WorkMemory: Sendable {
    let budget: MemoryBudget

    /// Memory for a render and, unless its pixels are here, for the decode before it.
    ///
    /// In one go: whoever held a part while waiting for the other could wait for somebody who does the same.
    ///
    /// - Throws: ``ImagingError/tooManyPixels(_:frames:)`` for what could never fit, ``MemoryBudget/Full``.
    func reserve(
        for job: RenderJob, isDecoded: Bool
    ) async throws -> (render: MemoryReservation, decode: MemoryReservation?) {
        let header = job.record.header
        let plan = job.key.plan
        let decode = isDecoded ? 0 : header.price(of: plan.decode, fileByteCount: job.bytes?.count ?? 0)
        let (sum, overflow) = decode.addingReportingOverflow(plan.price)
        // A quarter is what the caches keep even when they are asked for room.
        guard !overflow, sum <= budget.limit - budget.limit / 4 else {
            throw ImagingError.tooManyPixels(header.storedSize, frames: plan.decode.frames(of: header))
        }
        let room = try await budget.reserve(sum)
        return isDecoded ? (room, nil) : (room.split(plan.price), room)
    }

    /// Memory for a plain image.
    ///
    /// - Throws: ``PipelineError/placeholderTooLarge``, ``MemoryBudget/Full``.
    func reserve(forPlaceholder plan: RenderPlan) async throws -> MemoryReservation {
        do {
            return try await budget.reserve(plan.price)
        } catch is MemoryBudget.NeverFits {
            throw PipelineError.placeholderTooLarge
        }
    }
}
