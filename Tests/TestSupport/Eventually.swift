import Coordination

/// Waits until `condition` holds, and checks it every two milliseconds; false after `limit`.
///
/// For events without a signal: the kernel closes a connection or a descriptor, another process ends or becomes ready,
/// a task of the code under test continues after a lookup or a decode. Doubles have signals: ``Watched``,
/// ``EventCounter``, ``Gate``, ``ThreadGate``, ``ManualTimekeeper``, ``FakeOrigin``. `Task.immediate` has reached its
/// first suspension when it returns.
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
