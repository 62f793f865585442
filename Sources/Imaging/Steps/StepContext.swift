import Coordination

/// What a step has at hand during one render; each step has its own, from the first frame to the last.
package struct StepContext {
    /// Whether the work is to stop; a step that computes pixels asks it.
    let token: WorkToken
    private var decision: Any?

    init(token: WorkToken) {
        self.token = token
    }

    /// What `decide` finds in the first frame; the same for all frames after it.
    mutating func decided<Decision>(_ decide: () throws -> Decision) rethrows -> Decision {
        if let decision = decision as? Decision { return decision }
        let new = try decide()
        decision = new
        return new
    }
}
