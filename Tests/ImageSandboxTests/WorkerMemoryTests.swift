import CLinux
import CShortages
import Glibc
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@testable import ImageSandbox

/// Worker processes with too little memory for an image.
///
/// "error 12" is ENOMEM from a large mapping of the allocator under RLIMIT_AS, as `strace` shows for the large image.
/// It is unknown why the next, small image sometimes got it with limits below 96 MiB; it did not in 48 attempts with
/// 40 to 64 MiB.
@Suite(.timeLimit(.minutes(2)))
struct WorkerMemoryTests {
    @Test(.unlessSanitized("it maps more memory than a worker gets"))
    func `a worker gets no more memory than granted`() async throws {
        let fixture = try SandboxFixture {
            $0.launch.limits = WorkerLimits(memory: 128 << 20, pixels: 2 << 30, processorSeconds: 600)
        }
        #expect(throws: WorkerUnavailable.self) { try fixture.decode(ImageFixture.webpGiant.bytes) }
        // Another worker retries; neither decodes the next image, because its allocator may keep too much memory.
        #expect(fixture.ends(.recycled) == 2)
        #expect(try fixture.decode(ImageFixture.jpeg.bytes).size == ImageFixture.size)
    }

    @Test(.unlessSanitized("it maps more memory than a worker gets"))
    func `an image short of memory does not count as damaged, wherever its library notices it`() async throws {
        // libjxl 0.7 reports some shortages and traps at others; 0.11 reports all.
        let file = SharedBytes(
            ImageFixture.file(SampleImage.plain(PixelSize(width: 4_000, height: 3_000), [30, 60, 90]), as: .jxl))
        var shortages = 0
        for memory in stride(from: 96, through: 160, by: 8) {
            let fixture = try SandboxFixture {
                $0.launch.limits = WorkerLimits(memory: memory << 20, pixels: 2 << 30, processorSeconds: 600)
            }
            do {
                _ = try fixture.decode(file)
            } catch {
                #expect(error is WorkerUnavailable, "\(memory) MiB: \(error)")
            }
            shortages += fixture.ends(.outOfMemory) + fixture.ends(.recycled)
            #expect(fixture.ends(.crash) == 0 && fixture.metric("alula_quarantined_total") == 0)
            #expect(try fixture.decode(ImageFixture.jpeg.bytes).size == ImageFixture.size)
        }
        #expect(shortages > 0)
    }

    @Test(.unlessSanitized("it replaces the allocator"))
    func `the parent learns of a shortage however the process ends, and of nothing else`() {
        // The order in which two threads crash varies.
        for _ in 0..<50 { #expect(WorkerEnd(status: CShortages_status(CShortages_refused_crash)) == .outOfMemory) }
        for end in [CShortages_refused_exit, CShortages_blocks, CShortages_thread, CShortages_stack] {
            #expect(WorkerEnd(status: CShortages_status(end)) == .outOfMemory, "\(end)")
        }
        #expect(WorkerEnd(status: CShortages_status(CShortages_crash)) == .killed(signal: SIGSEGV))
        #expect(WorkerEnd(status: CShortages_status(CShortages_exit)) == .exited(1))
    }
}
