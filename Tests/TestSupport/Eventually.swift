import Coordination

/// Checks `condition` every two milliseconds until it holds; returns false after `limit`.
///
/// Use it only for events without a signal: the kernel closes a connection or a descriptor, another process exits or
/// becomes ready, or a task of the tested code continues after a lookup or a decode. Test doubles have signals:
/// ``Watched``, ``EventCounter``, ``Gate``, ``ThreadGate``, ``ManualTimekeeper``, ``FakeOrigin``. `Task.immediate`
/// returns once the task first suspends.
package func eventually(
    within limit: Duration = .seconds(60), _ condition: @Sendable () async -> Bool
) async -> Bool {
    let time = SystemTimekeeper()
    let deadline = time.now + limit
    while time.now < deadline {
        if await condition() { return true }
        try? await time.sleep(until: time.now + .milliseconds(2))
    }
    return await condition()
}
