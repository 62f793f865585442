/// Tries from inside a worker what must not be possible there.
package enum SandboxTrial {
    /// What came of a deed.
    package enum Outcome: Hashable, Sendable {
        /// The kernel refused it, with this error.
        case refused(error: CInt)
        /// The kernel did not do it, and the worker was ended for trying; the name of the system call where it is known.
        case ended(call: String?)
        /// It was possible, or the worker came to another end.
        case worked
    }

    /// Starts a worker that tries `deed`.
    ///
    /// - Throws: ``WorkerLaunch/Failure`` where it cannot be started.
    package static func outcome(of deed: Deed, _ launch: WorkerLaunch) throws(WorkerLaunch.Failure) -> Outcome {
        let worker = try launch.start()
        let attempt = worker.attempt(deed)
        let end = worker.end()
        return switch attempt {
        case .finished(let error): error == 0 ? .worked : .refused(error: error)
        case .forbidden(let call): .ended(call: call)
        case .lost: end.cause == .violation ? .ended(call: nil) : .worked
        }
    }
}
