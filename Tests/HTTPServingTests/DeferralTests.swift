import HTTPTypes
import Testing

@testable import HTTPServing

struct DeferralTests {
    private let answer: Deferral.Continuation = { .ready(HTTPResponse(status: .ok, body: .text("kept"))) }

    @Test func `a fulfilled response resumes once and is delivered once`() {
        var deferral = Deferral()
        deferral.begin(ticket: 1)
        let isAbandoned = deferral.attach(Task {}, ticket: 1)
        #expect(!isAbandoned)
        let resumes = [deferral.resume(with: answer, ticket: 1), deferral.resume(with: answer, ticket: 1)]
        #expect(resumes == [true, false])
        let lateAbandonment = deferral.abandon()
        #expect(lateAbandonment == nil)
        let resumed = deferral.take()
        guard case .ready(let response) = resumed?() else {
            Issue.record("nothing was kept")
            return
        }
        #expect(response.body.count == 4)
        let secondAnswer = deferral.take()
        #expect(secondAnswer == nil)
    }

    @Test func `an abandoned response resumes once, releases its task and has no content`() {
        var deferral = Deferral()
        deferral.begin(ticket: 1)
        _ = deferral.attach(Task {}, ticket: 1)
        let abandonment = deferral.abandon(ticket: 1)
        #expect(abandonment?.task != nil)
        let secondAbandonment = deferral.abandon(ticket: 1)
        #expect(secondAbandonment == nil)
        let isResumed = deferral.resume(with: answer, ticket: 1)
        #expect(!isResumed)
        let resumed = deferral.take()
        #expect(resumed == nil)
    }

    @Test func `a task that is attached too late is canceled`() {
        var deferral = Deferral()
        deferral.begin(ticket: 1)
        let abandonment = deferral.abandon()
        #expect(abandonment != nil && abandonment?.task == nil)
        let isAbandoned = deferral.attach(Task {}, ticket: 1)
        #expect(isAbandoned)
    }

    @Test func `a task that finishes before it is attached is not canceled`() {
        var deferral = Deferral()
        deferral.begin(ticket: 1)
        _ = deferral.resume(with: answer, ticket: 1)
        let isAbandoned = deferral.attach(Task {}, ticket: 1)
        #expect(!isAbandoned)
        let resumed = deferral.take()
        #expect(resumed != nil)
    }

    @Test func `late events of an earlier response change nothing`() {
        var deferral = Deferral()
        deferral.begin(ticket: 1)
        _ = deferral.abandon(ticket: 1)
        _ = deferral.take()
        deferral.begin(ticket: 2)
        let isResumed = deferral.resume(with: answer, ticket: 1)
        #expect(!isResumed)
        let lateAbandonment = deferral.abandon(ticket: 1)
        #expect(lateAbandonment == nil)
        let isAbandoned = deferral.attach(Task {}, ticket: 1)
        #expect(!isAbandoned)
        let isKept = deferral.resume(with: answer, ticket: 2)
        #expect(isKept)
    }

    @Test func `without a deferred response there is nothing to end`() {
        var deferral = Deferral()
        let isResumed = deferral.resume(with: answer, ticket: 0)
        #expect(!isResumed)
        let abandonment = deferral.abandon()
        #expect(abandonment == nil)
        let resumed = deferral.take()
        #expect(resumed == nil)
    }
}
