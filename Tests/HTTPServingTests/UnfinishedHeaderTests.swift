import Testing

@testable import HTTPServing

struct UnfinishedHeaderTests {
    @Test func `a header is overdue when its bytes have been pending for the limit`() {
        var header = UnfinishedHeader()
        let samples = [0, 1, 2, 3, 4].map { second in
            header.isOverdue(pendingBytes: second + 1, afterBytes: 100, at: .seconds(second), limit: .seconds(3))
        }
        #expect(samples == [false, false, false, true, true])
    }

    @Test func `an idle connection is never overdue, and resets the time of an unfinished header`() {
        var header = UnfinishedHeader()
        let samples = [0, 0, 5, 0, 5, 5].enumerated().map { second, pending in
            header.isOverdue(pendingBytes: pending, afterBytes: 0, at: .seconds(second * 10), limit: .seconds(5))
        }
        #expect(samples == [false, false, false, false, false, true])
    }

    @Test func `consecutive unfinished headers are not one endless header`() {
        var header = UnfinishedHeader()
        let samples = (0..<10).map { second in
            header.isOverdue(pendingBytes: 1, afterBytes: second * 50, at: .seconds(second), limit: .seconds(1))
        }
        #expect(!samples.contains(true))
    }
}
