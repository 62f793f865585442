import TestSupport
import Testing

@testable import Telemetry

struct SpanDocumentTests {
    @Test func `a document has OTLP's JSON form`() throws {
        let tracer = Tracer(
            TraceSampler(ratio: 1), propagatesAll: false, registry: MetricsRegistry(),
            timekeeper: ManualTimekeeper(secondsSince1970: 1_800_000_000))
        let link = try #require(
            TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        let trace = try #require(tracer.begin(continuing: link))
        let place = trace.newContext()
        trace.record(
            "decode", as: place, time: .zero ..< .nanoseconds(7),
            attributes: [("text", "a\"b"), ("count", 3), ("isTrue", .bool(true)), ("share", .double(0.5))],
            links: [link], failure: "cannot_decode")
        let text = String(
            decoding: SpanDocument.bytes(
                tracer.dequeueSpans(atMost: 1), of: OTLPResource([("service.name", "alula")], version: "2")),
            as: UTF8.self)
        let expected =
            #"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"alula"}}]},"#
            + #""scopeSpans":[{"scope":{"name":"alula","version":"2"},"spans":[{"#
            + #""traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"\#(place.spanID.text)","#
            + #""parentSpanId":"\#(trace.context.spanID.text)","name":"decode","kind":1,"#
            + #""startTimeUnixNano":"1800000000000000000","endTimeUnixNano":"1800000000000000007","#
            + #""attributes":[{"key":"text","value":{"stringValue":"a\"b"}},{"key":"count","value":{"intValue":"3"}},"#
            + #"{"key":"isTrue","value":{"boolValue":true}},{"key":"share","value":{"doubleValue":0.5}}],"#
            + #""links":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7"}],"#
            + #""status":{"code":2,"message":"cannot_decode"}}]}]}]}"#
        #expect(text == expected)
    }
}
