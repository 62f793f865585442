import Coordination

/// Waits until `condition` holds, asking again as other tasks and threads make progress; false after `limit`.
///
/// For what the outside world does in its own time (a peer's close, a thread's end); order inside the process is a ``Gate``'s.
package func eventually(
    within limit: Duration = .seconds(10), _ condition: @Sendable () async -> Bool
) async -> Bool {
    let time = SystemTimekeeper()
    let deadline = time.now + limit
    while time.now < deadline {
        if await condition() { return true }
        try? await time.sleep(until: time.now + .milliseconds(2))
    }
    return await condition()
}
