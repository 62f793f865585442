import Telemetry

package enum SandboxProbe {
    package enum Outcome: Hashable, Sendable {
        case rejected(error: CInt)
        /// The worker was killed for the action; contains the name of the system call, if known.
        case ended(call: String?)
        /// The action succeeded, or the worker ended for another reason.
        case worked
    }

    package static func outcome(
        of action: ForbiddenAction, in launch: WorkerLaunch
    ) throws(WorkerLaunch.Failure) -> Outcome {
        var spawner = WorkerSpawner(launch, logger: .silent)
        defer { spawner.endTemplate() }
        let worker = try spawner.start()
        let attempt = worker.attempt(action)
        let end = worker.end()
        return switch attempt {
        case .finished(let error): error == 0 ? .worked : .rejected(error: error)
        case .forbidden(let call): .ended(call: call)
        case .ended: end.cause == .forbiddenCall ? .ended(call: nil) : .worked
        }
    }
}
