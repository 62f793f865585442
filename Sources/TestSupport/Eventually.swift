import Coordination

/// Waits until `condition` holds, asking again as other tasks and threads make progress; false after `limit`.
///
/// For events outside the process's control (a peer's close, a thread's end); use a ``Gate`` for order inside the
/// process.
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
