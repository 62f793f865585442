import HTTPTypes
import Testing

@testable import HTTPServing

struct DeferredResponseTests {
    private let answer: DeferredResponse.Kept = { .ready(HTTPResponse(status: .ok, body: .text("kept"))) }

    @Test func `a fulfilled response resumes once and is delivered once`() {
        var promise = DeferredResponse()
        promise.begin(ticket: 1)
        let isAbandoned = promise.attach(Task {}, ticket: 1)
        #expect(!isAbandoned)
        let resumes = [promise.keep(answer, ticket: 1), promise.keep(answer, ticket: 1)]
        #expect(resumes == [true, false])
        let lateAbandonment = promise.abandon()
        #expect(lateAbandonment == nil)
        let kept = promise.take()
        guard case .ready(let response) = kept?() else {
            Issue.record("nothing was kept")
            return
        }
        #expect(response.body.count == 4)
        let secondAnswer = promise.take()
        #expect(secondAnswer == nil)
    }

    @Test func `an abandoned response resumes once, releases its task and has no content`() {
        var promise = DeferredResponse()
        promise.begin(ticket: 1)
        _ = promise.attach(Task {}, ticket: 1)
        let abandonment = promise.abandon(ticket: 1)
        #expect(abandonment?.task != nil)
        let secondAbandonment = promise.abandon(ticket: 1)
        #expect(secondAbandonment == nil)
        let isResumed = promise.keep(answer, ticket: 1)
        #expect(!isResumed)
        let kept = promise.take()
        #expect(kept == nil)
    }

    @Test func `a task that is attached too late is canceled`() {
        var promise = DeferredResponse()
        promise.begin(ticket: 1)
        let abandonment = promise.abandon()
        #expect(abandonment != nil && abandonment?.task == nil)
        let isAbandoned = promise.attach(Task {}, ticket: 1)
        #expect(isAbandoned)
    }

    @Test func `a task that finishes before it is attached is not canceled`() {
        var promise = DeferredResponse()
        promise.begin(ticket: 1)
        _ = promise.keep(answer, ticket: 1)
        let isAbandoned = promise.attach(Task {}, ticket: 1)
        #expect(!isAbandoned)
        let kept = promise.take()
        #expect(kept != nil)
    }

    @Test func `late events of an earlier response change nothing`() {
        var promise = DeferredResponse()
        promise.begin(ticket: 1)
        _ = promise.abandon(ticket: 1)
        _ = promise.take()
        promise.begin(ticket: 2)
        let isResumed = promise.keep(answer, ticket: 1)
        #expect(!isResumed)
        let lateAbandonment = promise.abandon(ticket: 1)
        #expect(lateAbandonment == nil)
        let isAbandoned = promise.attach(Task {}, ticket: 1)
        #expect(!isAbandoned)
        let isKept = promise.keep(answer, ticket: 2)
        #expect(isKept)
    }

    @Test func `without a deferred response there is nothing to end`() {
        var promise = DeferredResponse()
        let isResumed = promise.keep(answer, ticket: 0)
        #expect(!isResumed)
        let abandonment = promise.abandon()
        #expect(abandonment == nil)
        let kept = promise.take()
        #expect(kept == nil)
    }
}
