import Coordination
import Imaging
import Recipes

struct WorkScheduler: Sendable {
    let lanes: WorkLanes
    let admission: MissAdmission

    /// Runs `body` when the work has its turn, and once more in an expensive turn if a decode was underestimated.
    ///
    /// - Parameter queueTimeout: Nil for the lane's default.
    func run<Value: Sendable>(
        _ cost: WorkCost, queueTimeout: Duration?, _ body: (WorkTurn) async throws -> Value
    ) async throws -> Value {
        if cost.lane == .small {
            let bound = queueTimeout ?? admission.queueTimeout(in: .small)
            do {
                return try await lanes.smallTurns.run(cost: cost.sum, queueTimeout: bound) {
                    try await body(WorkTurn(queueTimeout: bound))
                }
            } catch is UnderestimatedDecode {
                try Task.checkCancellation()
            }
        }
        let bound = queueTimeout ?? admission.queueTimeout(in: .expensive)
        // An underestimated decode takes longer than its cost, so that later expensive work is refused in time.
        let sum = cost.lane == .small ? max(cost.sum, TimeCost.expensive) : cost.sum
        return try await lanes.turns.run(cost: sum, queueTimeout: bound) {
            // The small parts of expensive work wait for the threads of the small lane, ahead of later work.
            var turn = WorkTurn(queueTimeout: queueTimeout ?? admission.queueTimeout(in: .small))
            turn.isExpensive = cost.lane == .small
            while true {
                do {
                    return try await body(turn)
                } catch is UnderestimatedDecode {
                    // It may also have joined a decode that others began in a small turn.
                    try Task.checkCancellation()
                    turn.isExpensive = true
                }
            }
        }
    }
}

/// The permission for a piece of work to run.
struct WorkTurn {
    /// The timeout of waits for a thread.
    let queueTimeout: Duration
    /// Whether decodes count as expensive, whatever their cost.
    var isExpensive = false
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
