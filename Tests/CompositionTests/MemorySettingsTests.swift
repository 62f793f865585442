import Coordination
import Telemetry
import TestSupport
import Testing

@testable import Composition
@testable import Settings

/// The memory limit of the service, and the threshold of low memory.
@Suite(.timeLimit(.minutes(1)))
struct MemorySettingsTests {
    private let folder = TemporaryFolder()
    private var system: SystemMemory { SystemMemory(root: folder.path, machine: 8 << 30) }

    @Test func `a budget is bytes or a share`() throws {
        #expect(try MemoryShare("512MiB").byteCount(of: 1 << 40) == 512 << 20)
        #expect(try MemoryShare("50%").byteCount(of: 1_000_000_000) == 500_000_000)
        #expect(try MemoryShare("60 %") == .percent(60))
        #expect(try MemoryShare("1%").byteCount(of: 1 << 30) == 16 << 20)
        for text in ["0%", "101%", "15MiB", "%", "-5%", "much"] {
            #expect(throws: InvalidValue.self) { try MemoryShare(text) }
        }
    }

    @Test func `without control groups the machine's memory counts`() {
        #expect(system.limit == 8 << 30)
        #expect(system.pressureFile == nil)
    }

    @Test func `the tightest group of version 2 counts, the process's own or one above`() {
        write("proc/self/cgroup", "0::/a/b\n")
        write("sys/fs/cgroup/a/b/memory.max", "max\n")
        write("sys/fs/cgroup/a/memory.max", "1073741824\n")
        #expect(system.limit == 1 << 30)
        write("sys/fs/cgroup/a/b/memory.max", "536870912\n")
        #expect(system.limit == 512 << 20)
    }

    @Test func `in a container the path may not exist, and the root is its own group`() {
        write("proc/self/cgroup", "0::/../../system.slice/x\n")
        write("sys/fs/cgroup/memory.max", "268435456\n")
        #expect(system.limit == 256 << 20)
    }

    @Test func `version 1 is read as well, with its huge number for no limit`() {
        write("proc/self/cgroup", "12:cpu,memory:/docker/x\n3:pids:/docker/x\n")
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
        #expect(system.limit == 8 << 30)
        write("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "134217728\n")
        #expect(system.limit == 128 << 20)
    }

    @Test func `pressure is the process's own group's if the kernel counts it`() {
        write("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
        #expect(system.pressureFile == folder.path + "/proc/pressure/memory")
        write("proc/self/cgroup", "0::/a\n")
        write("sys/fs/cgroup/a/memory.pressure", "some avg10=1.00 avg60=0.00 avg300=0.00 total=0\n")
        #expect(system.pressureFile == folder.path + "/sys/fs/cgroup/a/memory.pressure")
    }

    @Test(
        arguments: [
            (0.0, 0.0, nil), (9.99, 9.99, nil), (10, 0, .preferred), (80, 9, .preferred), (12, 10, .empty),
        ] as [(Double, Double, MemoryBudget.Eviction?)])
    func `waits for memory evict in two steps`(some: Double, full: Double, step: MemoryBudget.Eviction?) {
        let text = """
            some avg10=\(some) avg60=0.00 avg300=0.00 total=5
            full avg10=\(full) avg60=0.00 avg300=0.00 total=5

            """
        #expect(MemoryPressure(text) == MemoryPressure(some: some, full: full))
        #expect(MemoryPressure(text)?.eviction == step)
    }

    @Test func `a text without pressure gives none`() {
        #expect(MemoryPressure("") == nil)
        #expect(MemoryPressure("some avg60=1") == nil)
    }

    @Test func `the watch evicts cache entries while the kernel is short of memory, and only then`() async throws {
        let time = ManualTimekeeper()
        let pressure = Locked<MemoryPressure?>(nil)
        let steps = Locked<[MemoryBudget.Eviction]>([])
        let budget = MemoryBudget(
            timekeeper: time,
            evict: { step in
                steps.withLock { $0.append(step) }
                return 1
            })
        let watch = MemoryWatch(
            budget: budget, pressure: { pressure.withLock { $0 } }, logger: .silent, timekeeper: time)
        let task = Task { await watch.run() }
        for (some, full) in [(0.0, 0.0), (20, 0), (30, 20), (1, 0)] {
            await time.sleepers(1)
            pressure.withLock { $0 = MemoryPressure(some: some, full: full) }
            time.advance(by: .seconds(1))
        }
        await time.sleepers(1)
        #expect(steps.withLock { $0 } == [.preferred, .empty])
        task.cancel()
        await task.value
    }

    private func write(_ name: String, _ text: String) { folder.write(name, Array(text.utf8)) }
}
