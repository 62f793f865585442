import Coordination
import Recipes

struct WorkScheduler: Sendable {
    let lanes: WorkLanes
    let admission: MissAdmission

    /// Runs `body` when the work has its turn; `queueTimeout` is also passed to `body`, nil for the lane's default.
    func run<Value: Sendable>(
        _ cost: WorkCost, queueTimeout: Duration?, _ body: (_ queueTimeout: Duration) async throws -> Value
    ) async throws -> Value {
        let bound = queueTimeout ?? admission.queueTimeout(in: cost.lane)
        switch cost.lane {
        case .small:
            return try await lanes.smallTurns.run(cost: cost.sum, queueTimeout: bound) { try await body(bound) }
        case .expensive:
            return try await lanes.turns.run(cost: cost.sum, queueTimeout: bound) {
                // The small parts of expensive work wait for the threads of the small lane, ahead of later
                // work.
                try await body(queueTimeout ?? admission.queueTimeout(in: .small))
            }
        }
    }
}

struct WorkCost: Equatable {
    /// The decode of each source; zero if its pixels are cached or already being decoded.
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
