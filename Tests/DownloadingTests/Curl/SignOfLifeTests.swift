import Downloading
import TestSupport
import Testing
import Text

/// Transfers that need only the header of a response.
@Suite(.timeLimit(.minutes(1)))
struct SignOfLifeTests {
    private func ask(_ fixture: LoaderFixture, _ path: String) async throws -> TransferProgress {
        let identity = try fixture.rules.identity(of: ExactText(fixture.origin.url(path)))
        let progress = TransferProgress()
        guard
            case .head = try await fixture.loader.load(
                TransferRequest(identity: identity, needsBody: false), progress: progress)
        else { throw UnexpectedConfirmation() }
        return progress
    }

    @Test func `no body is read, however large it is`() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve("/large", .image(bytes(32 << 20)))
        fixture.origin.serve("/endless", .image(bytes(32 << 20)).framed(by: .chunked))
        for path in ["/large", "/endless"] {
            let progress = try await ask(fixture, path)
            #expect(progress.receivedBytes == 0)
            #expect(progress.hasResponse)
        }
        await fixture.origin.idle()
    }

    @Test func `a small body leaves its connection to the next transfer`() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve("/small", .image(bytes(1_000)))
        for _ in 0..<3 { _ = try await ask(fixture, "/small") }
        #expect(fixture.origin.connectionCount == 1)
    }

    @Test func `a redirect is a sign of life, and is not followed`() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve("/moved", .redirect(to: "/good"))
        _ = try await ask(fixture, "/moved")
        #expect(fixture.origin.hits("/good") == 0)
    }

    @Test func `error statuses and timeouts are errors`() async throws {
        let time = ManualTimekeeper()
        let fixture = try LoaderFixture(timekeeper: time) { $0.firstByteTimeout = .milliseconds(100) }
        fixture.origin.serve("/failing", .status(503))
        fixture.origin.serve("/silent", .silence)
        await #expect(throws: DownloadError.status(503)) { try await ask(fixture, "/failing") }
        await #expect(throws: DownloadError.notFound(404)) { try await ask(fixture, "/gone") }
        let silent = Task { try await ask(fixture, "/silent") }
        await fixture.origin.reachedHits(1, of: "/silent")
        let outcome = await time.pass(by: .milliseconds(100), until: silent)
        #expect(throws: DownloadError.timedOut) { try outcome.get() }
    }

    @Test func `silence and slowness are distinguished by whether a response has begun`() async throws {
        let time = ManualTimekeeper()
        let fixture = try LoaderFixture(timekeeper: time) {
            $0.firstByteTimeout = .milliseconds(100)
            $0.lowSpeedInterval = .milliseconds(100)
        }
        fixture.origin.serve("/silent", .silence)
        fixture.origin.serve("/slow", .image(bytes(1_000)).dripping(1, every: .milliseconds(10)))
        for (path, hasResponse) in [("/silent", false), ("/slow", true)] {
            let progress = TransferProgress()
            let task = Task { try await fixture.load(path, progress: progress) }
            await fixture.origin.reachedHits(1, of: path)
            if hasResponse { #expect(await eventually { progress.hasResponse }) }
            let outcome = await time.pass(by: .milliseconds(100), until: task)
            #expect(throws: DownloadError.timedOut) { try outcome.get() }
            #expect(progress.hasResponse == hasResponse)
        }
    }
}
