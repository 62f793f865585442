import Coordination
import Glibc
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct WorkThreadTests {
    @Test func `a thread runs its body under its name, and joining waits for its end`() throws {
        let name = Locked("")
        let thread = try WorkThread(named: "body-runner") { name.withLock { $0 = currentThreadName() } }
        thread.blockingJoin()
        #expect(name.withLock { $0 } == "body-runner")
    }

    @Test func `a name of more than fifteen bytes is truncated`() throws {
        let name = Locked("")
        let thread = try WorkThread(named: "a name that is far too long") { name.withLock { $0 = currentThreadName() } }
        thread.blockingJoin()
        #expect(name.withLock { $0 } == "a name that is ")
    }

    @Test func `a thread retains its body's captures until it ends, and no longer`() throws {
        let door = ThreadGate()
        weak var captured: ThreadGate?
        let thread: WorkThread
        do {
            let object = ThreadGate()
            captured = object
            thread = try WorkThread(named: nil) {
                door.pass()
                withExtendedLifetime(object) {}
            }
        }
        #expect(captured != nil)
        door.open()
        thread.blockingJoin()
        #expect(captured == nil)
    }
}

/// The calling thread's name in the kernel.
private func currentThreadName() -> String {
    let file = unsafe open("/proc/thread-self/comm", O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = unsafe read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count - 1)), as: UTF8.self)
}
