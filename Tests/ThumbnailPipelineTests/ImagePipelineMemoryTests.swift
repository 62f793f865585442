import Coordination
import HTTPTypes
import Memory
import Recipes
import TestSupport
import Testing
import ThumbnailTypes

@testable import ThumbnailPipeline

/// Memory that decodes and renders reserve before they begin.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct ImagePipelineMemoryTests {
    @Test func `a source that can never fit is rejected before a worker receives it`() async throws {
        let fixture = try PipelineFixture(memoryLimit: 10_000)
        let error = await #expect(throws: ImagingError.self) { try await fixture.thumbnail(width: nil) }
        #expect(error == .tooManyPixels(ImageFixture.size))
        #expect(fixture.decodes == 0)
        #expect(fixture.budget.statistics.reserved == 0)
    }

    @Test func `a render waits for memory, and everything is released`() async throws {
        let fixture = try PipelineFixture(memoryLimit: 4 << 20)
        let held = try await fixture.budget.reserve(4 << 20)
        let request = fixture.start()
        await fixture.lastEvictions.reached(1)
        #expect(fixture.budget.statistics.waiting == 1)
        #expect(fixture.decodes == 0)
        held.release()
        _ = try await request.value
        #expect(fixture.decodes == 1)
        try #require(await eventually { fixture.budget.statistics.reserved == 0 })
    }

    @Test func `a request whose wait for memory fails is answered 503`() async throws {
        let fixture = try PipelineFixture(memoryLimit: 4 << 20)
        let held = try await fixture.budget.reserve(4 << 20)
        let request = fixture.start()
        await fixture.lastEvictions.reached(1)
        #expect(fixture.budget.statistics.waiting == 1)
        await fixture.time.clock.sleepers(1)
        fixture.time.clock.advance(by: .seconds(5))
        let error = await #expect(throws: MemoryBudget.Full.self) { try await request.value }
        #expect(error?.status == .serviceUnavailable && error?.code == "overloaded" && error?.retryAfter == 1)
        // The source is kept and serves the next request, because it is not at fault.
        held.release()
        #expect(try await fixture.thumbnail().image.format == .jpeg)
        #expect(fixture.origin.loads == 1)
    }

    @Test func `if the pixels are cached, memory is reserved only for the render`() async throws {
        let fixture = try PipelineFixture(memoryLimit: 4 << 20)
        _ = try await fixture.thumbnail(width: 20)
        let plan = try #require(fixture.key(21)).plan
        let held = try await fixture.budget.reserve((4 << 20) - plan.cost)
        _ = try await fixture.thumbnail(width: 21)
        #expect(fixture.decodes == 1 && fixture.renders == 2)
        withExtendedLifetime(held) {}
    }

    @Test func `low memory purges the caches to preferred, then the pixels to zero`() async throws {
        let fixture = try PipelineFixture()
        _ = try await fixture.thumbnail()
        #expect(fixture.caches.evict(.preferred) == 0)
        let pixels = fixture.caches.memory.decoded.memoryUsage
        #expect(pixels > 0)
        #expect(fixture.caches.evict(.empty) == pixels)
        #expect(fixture.caches.memory.decoded.memoryUsage == 0)
        #expect(fixture.caches.memory.results.memoryUsage > 0)
        // Rendered again from the cached source.
        _ = try await fixture.thumbnail(width: 21)
        #expect(fixture.origin.loads == 1)
    }

    @Test func `a placeholder that can never fit is too large`() async throws {
        let fixture = try PipelineFixture(memoryLimit: 1_000)
        await #expect(throws: PipelineError.placeholderTooLarge) {
            try await fixture.pipeline.placeholder(for: .path(width: 500), color: .white)
        }
    }

    @Test func `caches too large for the budget are reduced in proportion`() {
        var configuration = PipelineConfiguration()
        (configuration.decodedCacheCapacity, configuration.decodedCachePreferred) = (100, 60)
        (configuration.resultCacheCapacity, configuration.resultCachePreferred) = (60, 40)
        configuration.sourceCacheMemory = 40
        let isChanged = configuration.fitCaches(within: 200)
        #expect(!isChanged && configuration.decodedCacheCapacity == 100)
        let isChangedNow = configuration.fitCaches(within: 100)
        #expect(isChangedNow)
        #expect(configuration.decodedCacheCapacity == 50 && configuration.decodedCachePreferred == 30)
        #expect(configuration.resultCacheCapacity == 30 && configuration.resultCachePreferred == 20)
        #expect(configuration.sourceCacheMemory == 20)
    }
}
