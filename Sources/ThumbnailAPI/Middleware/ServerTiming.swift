import HTTPTypes
import Telemetry
import ThumbnailPipeline
import ThumbnailTypes

/// Adds `Server-Timing`: the steps, then the total, in milliseconds.
struct ServerTiming: ResponseCompletion {
    /// The field of repeated responses, each of which takes far less than a millisecond.
    static let ofHits = "total;dur=0"

    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        guard context.route.images != nil else { return }
        outcome.response.headerFields.append(.serverTiming, Self.text(outcome.timings, total: now - context.startedAt))
    }

    static func text(_ steps: [StepTiming], total: Duration) -> String {
        var text = ""
        for step in steps { append(step.name, step.duration, to: &text) }
        append("total", total, to: &text)
        return text
    }

    private static func append(_ name: String, _ duration: Duration, to text: inout String) {
        let parts = duration.components
        let microseconds = max(0, parts.seconds * 1_000_000 + parts.attoseconds / 1_000_000_000_000)
        if !text.isEmpty { text += ", " }
        text += name
        text += ";dur="
        text += String(microseconds / 1_000)
        text += "."
        // Three decimals: the digits after the leading 1.
        text += String(microseconds % 1_000 + 1_000).dropFirst()
    }
}
