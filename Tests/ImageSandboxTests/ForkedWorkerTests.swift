import Recipes
import Testing

@testable import ImageSandbox

struct ForkedWorkerTests {
    static let limits = WorkerLimits(memory: 1 << 40, pixels: 1 << 36, processorSeconds: 1_000)

    @Test(arguments: [[], [.jpeg], ImageFormat.allCases])
    func `an order reaches the worker in a message of fixed length`(formats: [ImageFormat]) {
        let order = ForkRequest(limits: Self.limits, formats: Set(formats))
        #expect(order.message.count == ForkRequest.byteCount && ForkRequest(order.message) == order)
    }

    @Test(arguments: ["", "1 2", "1 2 3 bpg", "1 2 x", "0 1 1", "jpeg 1 2 3"])
    func `another message is not an order`(text: String) {
        let message = Array(text.utf8) + [UInt8](repeating: 0, count: ForkRequest.byteCount - text.utf8.count)
        #expect(ForkRequest(message) == nil)
    }

    @Test func `a process that has forked no worker has none`() throws {
        #expect(ForkedWorker.start(limits: Self.limits, formats: [.jpeg]) == nil)
    }
}
