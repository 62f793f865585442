import Testing

@testable import Telemetry

/// Examples of W3C Trace Context and variations of them.
struct TraceContextTests {
    private static let example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    @Test func `a traceparent round-trips`() throws {
        let context = try #require(TraceContext(traceparent: Self.example))
        #expect(context.traceID.text == "4bf92f3577b34da6a3ce929d0e0e4736")
        #expect(context.spanID.text == "00f067aa0ba902b7")
        #expect(context.isSampled)
        #expect(context.traceparent == Self.example)
    }

    @Test(arguments: [("00", false), ("01", true), ("02", false), ("ff", true)])
    func `only the last bit of the flags marks a recorded trace`(flags: String, isSampled: Bool) {
        let context = TraceContext(traceparent: Self.example.dropLast(2) + flags)
        #expect(context?.isSampled == isSampled)
    }

    @Test func `a later version may have more members, which are ignored`() {
        #expect(TraceContext(traceparent: "cc" + Self.example.dropFirst(2)) != nil)
        #expect(TraceContext(traceparent: "cc" + Self.example.dropFirst(2) + "-what-the-future") != nil)
    }

    @Test(arguments: [
        "", "00", "-", String(repeating: "-", count: 55), String(repeating: "0", count: 100_000),
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more",
        " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    ])
    func `other texts are rejected`(text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }
}
