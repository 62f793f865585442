import ThumbnailPipeline

/// Writes `Server-Timing`: the steps, then the whole as `total`, in milliseconds.
enum ServerTimingText {
    /// The field's value of answers that are sent again as they are: well below a millisecond.
    static let ofHits = "total;dur=0"

    /// The field's value for measured steps and the time since the request came.
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
        // Three decimals: the digits after a leading 1.
        text += String(microseconds % 1_000 + 1_000).dropFirst()
    }
}
