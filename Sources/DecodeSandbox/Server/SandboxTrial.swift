/// Tries from inside a worker what must not be possible there.
package enum SandboxTrial {
    /// What came of a deed.
    package enum Outcome: Hashable, Sendable {
        /// The kernel refused it, with this error.
        case refused(error: CInt)
        /// The kernel ended the worker for trying.
        case ended
        /// It was possible, or the worker came to another end.
        case worked
    }

    /// Starts a worker that tries `deed`.
    ///
    /// - Throws: ``WorkerLaunch/Failure`` where it cannot be started.
    package static func outcome(of deed: Deed, _ launch: WorkerLaunch) throws(WorkerLaunch.Failure) -> Outcome {
        let worker = try launch.start()
        let error = worker.attempt(deed)
        let end = worker.end()
        if let error { return error == 0 ? .worked : .refused(error: error) }
        return end.isViolation ? .ended : .worked
    }
}
