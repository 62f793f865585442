import Coordination

/// Waits until `condition` holds, and asks again every two milliseconds; false after `limit`.
///
/// For events of which nothing in the test is told: the kernel closes a connection or a descriptor, another process
/// ends or becomes ready, a task of the code under test goes on behind a look-up or a decode. If a double of the test
/// takes part in an event, wait for that instead: at a ``Gate`` or ``ThreadGate``, with an ``EventCounter``, for the
/// sleepers of a ``ManualTimekeeper``. `Task.immediate` has come to its first wait when it returns, and so has its
/// caller's place in a line.
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
