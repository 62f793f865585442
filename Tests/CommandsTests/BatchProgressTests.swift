import Coordination
import JSON
import Memory
import Recipes
import TestSupport
import Testing

@testable import Commands

struct BatchProgressTests {
    private let clock = ManualTimekeeper()

    private func outcome(_ kind: RenditionOutcome.Kind) -> RenditionOutcome {
        RenditionOutcome(source: 0, rendition: 0, sourceText: "a", kind: kind, duration: .milliseconds(5))
    }

    private var made: RenditionOutcome {
        outcome(
            .rendered(
                path: "o/a.webp",
                EncodedImage(bytes: SharedBytes([1, 2]), format: .webp, size: PixelSize(width: 3, height: 4))))
    }
    private var failed: RenditionOutcome {
        outcome(.failed(CommandFailure(code: "not_an_image", reason: "not an image")))
    }
    private var skipped: RenditionOutcome { outcome(.skipped(path: "o/a.webp", isFinished: true)) }

    @Test func `the bar shows the rate, the remaining time and the failures`() {
        var progress = BatchProgress(total: 1_000, start: clock.now)
        #expect(progress.bar(at: clock.now, width: 30) == "[....................] 0/1000")
        clock.advance(by: .seconds(10))
        for _ in 0..<240 { progress.count(made) }
        for _ in 0..<10 { progress.count(failed) }
        #expect(
            progress.bar(at: clock.now, width: 70)
                == "[#######.....................] 250/1000  25.0/s  30 s left  10 failed")
        #expect(progress.bar(at: clock.now, width: 70).count <= 70)
        #expect(progress.bar(at: clock.now, width: 20).count <= 20)
    }

    @Test func `sources finished earlier count as done, but not for the rate`() {
        var progress = BatchProgress(total: 20_000, start: clock.now)
        for _ in 0..<10_000 { progress.count(skipped) }
        clock.advance(by: .seconds(100))
        for _ in 0..<100 { progress.count(made) }
        #expect(progress.bar(at: clock.now, width: 120).hasSuffix("] 10100/20000  1.0/s  2:45:00 left"))
        #expect(progress.summary(at: clock.now) == "100 rendered, 10000 skipped, 9900 not tried in 100 s (1.0/s)")
    }

    @Test func `the bar is drawn ten times a second, and at the end`() {
        var progress = BatchProgress(total: 2, start: clock.now)
        var drawn = [progress.isDrawingDue(at: clock.now)]
        clock.advance(by: .milliseconds(99))
        drawn.append(progress.isDrawingDue(at: clock.now))
        clock.advance(by: .milliseconds(1))
        drawn.append(progress.isDrawingDue(at: clock.now))
        drawn.append(progress.isDrawingDue(at: clock.now))
        progress.count(made)
        progress.count(failed)
        drawn.append(progress.isDrawingDue(at: clock.now))
        #expect(drawn == [true, false, true, false, true])
        #expect(progress.bar(at: clock.now, width: 60).hasSuffix("] 2/2  20.0/s  1 failed"))
        #expect(progress.summary(at: clock.now) == "1 rendered, 1 failed in 0.1 s (20.0/s)")
    }

    @Test func `machine-readable output has an object for each source`() {
        #expect(
            BatchReport.json(made).text
                == #"{"source":"a","status":"made","file":"o/a.webp","format":"webp","width":3,"height":4,"bytes":2,"milliseconds":5}"#
        )
        #expect(
            BatchReport.json(failed).text
                == #"{"source":"a","status":"failed","code":"not_an_image","reason":"not an image","milliseconds":5}"#)
        #expect(
            BatchReport.json(skipped).text
                == #"{"source":"a","status":"skipped","file":"o/a.webp","milliseconds":5}"#)
    }
}
