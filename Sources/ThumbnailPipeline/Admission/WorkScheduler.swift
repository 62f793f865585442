import Coordination
import Imaging
import Recipes

struct WorkScheduler: Sendable {
    let lanes: WorkLanes
    let admission: MissAdmission

    /// Runs `body` with a permit, and again with one for expensive work if the cost of a decode was underestimated.
    ///
    /// - Parameters:
    ///   - queueTimeout: Nil uses the lane's default.
    ///   - cost: Called before each wait for a permit.
    func run<Value: Sendable>(
        of flow: Flow, queueTimeout: Duration?, cost: () async throws -> WorkCost,
        _ body: (WorkPermit) async throws -> Value
    ) async throws -> Value {
        while true {
            let cost = try await cost()
            let lane = cost.lane
            do {
                return try await lanes.limiter(of: lane).run(
                    of: flow, cost: cost.sum, queueTimeout: queueTimeout ?? admission.queueTimeout(in: lane, for: flow)
                ) {
                    // Small parts of expensive work wait for the threads of the small lane, ahead of later work.
                    // Small work in that queue already has a permit and finishes soon.
                    let bound =
                        queueTimeout
                        ?? (lane == .small ? admission.maximumDelay : admission.queueTimeout(in: .small, for: flow))
                    return try await body(WorkPermit(lane: lane, queueTimeout: bound))
                }
            } catch is UnderestimatedDecode {
                try Task.checkCancellation()
            }
        }
    }
}

/// A permit to work in a lane until `body` returns.
struct WorkPermit {
    let lane: WorkLanes.Lane
    /// The maximum wait for a thread.
    let queueTimeout: Duration
    let waits = ThreadWaits()
}

/// The longest time that one of several concurrent decodes waited for a thread.
final class ThreadWaits: Sendable {
    private let maximum = Locked(Duration.zero)

    var longest: Duration { maximum.withLock { $0 } }

    func record(_ wait: Duration) { maximum.withLock { $0 = max($0, wait) } }
}

struct WorkCost: Equatable {
    /// CPU time to decode each source; zero if its pixels are cached or already being decoded.
    let decodes: PerSource<Duration>
    let render: Duration
}

extension WorkCost {
    init(of plan: RenderPlan, ofPlain color: Color) {
        self.init(decodes: PerSource(.zero), render: plan.timeCost(ofPlain: color))
    }

    var sum: Duration { decodes.reduce(render, +) }

    var lane: WorkLanes.Lane { render.isExpensive || decodes.contains(where: \.isExpensive) ? .expensive : .small }
}
