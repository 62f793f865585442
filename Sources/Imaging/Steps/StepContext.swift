import Coordination

/// What a step can use during one render.
///
/// Each step has its own context, from the first frame to the last.
package struct StepContext {
    /// Tells whether to stop; a step that computes pixels asks it.
    let token: WorkToken
    private var decision: Any?

    init(token: WorkToken) {
        self.token = token
    }

    /// The result of `decide` for the first frame, and the same value for all later frames.
    mutating func decided<Decision>(_ decide: () throws -> Decision) rethrows -> Decision {
        if let decision = decision as? Decision { return decision }
        let new = try decide()
        decision = new
        return new
    }
}
