import Coordination
import Memory
import Recipes

struct WorkMemory: Sendable {
    struct Reservations {
        let render: MemoryReservation
        /// Memory for the decode of each source; nil if its pixels are cached.
        let decodes: PerSource<MemoryReservation?>
    }

    let budget: MemoryBudget

    /// Reserves all memory of a render at once: two tasks that each hold a part could deadlock.
    func reserve(for task: RenderTask, isDecoded: (DecodeKey) -> Bool) async throws -> Reservations {
        let plan = task.key.plan
        let costs = task.key.decodeKeys.mapWithIndex { index, key -> Int? in
            let source = task.sources[index]
            return isDecoded(key)
                ? nil : source.record.header.cost(of: key.plan, fileByteCount: source.file?.bytes.count ?? 0)
        }
        var sum = plan.cost
        var overflow = false
        for case let cost? in costs {
            let (larger, isTooLarge) = sum.addingReportingOverflow(cost)
            sum = larger
            overflow = overflow || isTooLarge
        }
        // A purge leaves up to a quarter of the budget in the caches.
        guard !overflow, sum <= budget.limit - budget.limit / 4 else {
            let header = task.sources.main.record.header
            throw ImagingError.tooManyPixels(header.storedSize, frames: plan.decode.frames(of: header))
        }
        let reservation = try await budget.reserve(sum, of: task.job.bill?.tenantFlow)
        return Reservations(render: reservation, decodes: costs.mapValues { $0.map { reservation.split($0) } })
    }

    /// - Throws: ``PipelineError/placeholderTooLarge``, ``MemoryBudget/Full``.
    func reserve(forPlaceholder plan: RenderPlan, of flow: Flow?) async throws -> MemoryReservation {
        do {
            return try await budget.reserve(plan.cost, of: flow)
        } catch is MemoryBudget.NeverFits {
            throw PipelineError.placeholderTooLarge
        }
    }
}
