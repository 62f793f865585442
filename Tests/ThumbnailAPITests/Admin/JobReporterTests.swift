import Coordination
import Crypto
import HTTPTypes
import Memory
import Telemetry
import TestSupport
import Testing
import Webhooks

@testable import Prefetching
@testable import ThumbnailAPI

/// Reports of finished jobs by events and callbacks.
@Suite(.timeLimit(.minutes(1)))
struct JobReporterTests {
    private let events = EventLog()
    private let calls = Locked<[OutgoingCall]>([])
    private let report = PrefetchReport(
        id: "job1", status: PrefetchStatus(total: 3, done: 2, failed: 1), callback: "https://h.example:81/a?b=c")

    private func reporter(keys: [[UInt8]] = []) -> JobReporter {
        let notifier = Notifier(
            registry: MetricsRegistry(), logger: .silent, timekeeper: ManualTimekeeper(),
            sendToHook: { _ in .rejected("no hook") },
            sendToCallback: { [calls] call in
                calls.withLock { $0.append(call) }
                return .status(200)
            })
        return JobReporter(events, notifier: notifier) { keys }
    }

    @Test func `a job's end is an event and one call with its report`() async throws {
        let outcome: CallOutcome = await withCheckedContinuation { continuation in
            reporter().report(report) { continuation.resume(returning: $0) }
        }
        #expect(outcome == .sent)
        let call = try #require(calls.withLock { $0.first })
        #expect(calls.withLock { $0.count } == 1 && call.method == .post && call.url == "https://h.example:81/a?b=c")
        #expect(
            String(decoding: call.body, as: UTF8.self)
                == #"{"id":"job1","state":"finished","total":3,"done":2,"failed":1,"left":0,"failures":[],"results":[]}"#
        )
        #expect(call.fields == [.contentType: "application/json", .accept: "*/*"])
        #expect(
            events.events(after: 0).map(\.event) == [
                .prefetch(id: "job1", state: "finished", done: 2, failed: 1, total: 3)
            ])
    }

    @Test func `a job without a callback makes no call`() {
        let silent = PrefetchReport(id: "a", status: PrefetchStatus(total: 1, done: 1, failed: 0), callback: nil)
        let outcomes = Locked<[CallOutcome]>([])
        reporter().report(silent) { outcome in outcomes.withLock { $0.append(outcome) } }
        #expect(outcomes.withLock { $0.count } == 1 && calls.withLock { $0.isEmpty } && events.lastID == 1)
    }

    @Test func `a report is signed with the first key, over method, target and body`() throws {
        let keys = [[UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32)]
        let call = try #require(reporter(keys: keys).call(for: report))
        let digest = SharedBytes(call.body).withBytes { SHA256.hash($0) }
        let request = HTTPRequest(method: .post, target: "/a?b=c", headerFields: call.fields)
        let signature = try #require(BodySignature(call.fields))
        #expect(signature.isValid(for: request, digest: digest, keys: [keys[0]]))
        #expect(!signature.isValid(for: request, digest: digest, keys: [keys[1]]))
        var other = request
        other.target = "/a"
        #expect(!signature.isValid(for: other, digest: digest, keys: keys))
        #expect(try ContentDigest.sha256(in: call.fields) == digest)
    }
}
