import Coordination
import Imaging
import Memory

/// What work on a picture pays before it begins.
extension ImagePipeline {
    /// Memory for a render and, unless its pixels are here, for the decode before it.
    ///
    /// In one go: whoever held a part while waiting for the other could wait for somebody who does the same.
    ///
    /// - Throws: ``ImagingError/tooManyPixels(_:frames:)`` for what could never fit, ``MemoryBudget/Full``.
    func reserveMemory(
        for key: ResultKey, of record: SourceRecord, file: SharedBytes?, isDecoded: Bool
    ) async throws -> (render: MemoryReservation, decode: MemoryReservation?) {
        let header = record.header
        let decode = isDecoded ? 0 : header.price(of: key.plan.decode, fileByteCount: file?.count ?? 0)
        let (sum, overflow) = decode.addingReportingOverflow(key.plan.price)
        // A quarter is what the caches keep even when they are asked for room.
        guard !overflow, sum <= budget.limit - budget.limit / 4 else {
            throw ImagingError.tooManyPixels(header.storedSize, frames: key.plan.decode.frames(of: header))
        }
        let room = try await budget.reserve(sum)
        return isDecoded ? (room, nil) : (room.split(key.plan.price), room)
    }

    /// Memory for a plain picture.
    ///
    /// - Throws: ``PipelineError/placeholderTooLarge``, ``MemoryBudget/Full``.
    func reserveMemory(forPlaceholder plan: RenderPlan) async throws -> MemoryReservation {
        do {
            return try await budget.reserve(plan.price)
        } catch is MemoryBudget.NeverFits {
            throw PipelineError.placeholderTooLarge
        }
    }
}
