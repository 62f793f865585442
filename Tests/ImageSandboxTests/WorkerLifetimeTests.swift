import TestSupport
import Testing

@testable import ImageSandbox

/// The end of a worker process, and its replacement.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct WorkerLifetimeTests {
    @Test func `a worker is replaced after its number of images`() async throws {
        let fixture = try SandboxFixture { $0.decoderLifetime.requests = 2 }
        let next = try #require(await fixture.idle(2).last)
        _ = try fixture.decode(ImageFixture.jpeg.bytes)
        #expect(fixture.codec.idleProcesses.last == next)
        _ = try fixture.decode(ImageFixture.jpeg.bytes)
        #expect(!fixture.codec.idleProcesses.contains(next))
        #expect(fixture.ends(.recycled) == 1)
        #expect(!(await fixture.idle(2)).contains(next))
    }

    @Test func `a worker is replaced after its time, by the clock or of the CPU`() async throws {
        for shorten: @Sendable (inout WorkerLifetime) -> Void in [{ $0.time = .zero }, { $0.processorTime = .zero }] {
            let fixture = try SandboxFixture { shorten(&$0.decoderLifetime) }
            let next = try #require(await fixture.idle(2).last)
            _ = try fixture.decode(ImageFixture.jpeg.bytes)
            #expect(fixture.ends(.recycled) == 1)
            #expect(!(await fixture.idle(2)).contains(next))
        }
    }

    @Test func `a worker stays for twice its life if no other is ready`() async throws {
        let fixture = try SandboxFixture {
            $0.decoderLifetime.requests = 2
            $0.decoderCount = 1
        }
        let only = await fixture.idle(1)
        for count in 1...3 {
            _ = try fixture.decode(ImageFixture.jpeg.bytes)
            #expect(fixture.codec.idleProcesses == only, "after \(count)")
        }
        _ = try fixture.decode(ImageFixture.jpeg.bytes)
        #expect(fixture.ends(.recycled) == 1)
        #expect(await fixture.idle(1) != only)
    }
}
