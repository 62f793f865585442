import Coordination
import HTTPServing
import HTTPTypes
import Memory
import TestSupport
import Testing

/// Streams whose readers may pause for any time.
@Suite(.timeLimit(.minutes(1)))
struct PatientBodyTests {
    @Test(arguments: [(Duration.milliseconds(500), Duration.seconds(60)), (.seconds(60), .seconds(3))])
    func `limits for clients that stop reading do not apply to a patient body`(
        stall: Duration, silence: Duration
    ) async throws {
        let closed = EventCounter()
        let size = 16 << 20
        let server = try TestServer.start(configured: {
            $0.stalledReaderTimeout = stall
            $0.keepAliveTimeout = silence
        }) { request in
            let allowsPausing = request.target == "/patient"
            let body = StreamedBody(allowsPausing: allowsPausing)
            body.onClose { if !allowsPausing { closed.increment() } }
            Task.detached {
                let piece = SharedBytes([UInt8](repeating: 7, count: size / 64))
                for _ in 0..<64 { try await body.write(piece) }
                body.finish()
            }
            return .ready(HTTPResponse(status: .ok, body: .streamed(body)))
        }
        let patient = try RawHTTPClient(port: server.port, receiveBufferSize: 4096)
        patient.get("/patient")
        let impatient = try RawHTTPClient(port: server.port, receiveBufferSize: 4096)
        impatient.get("/impatient")
        // The impatient body's time limits have expired, so those of the earlier, patient body would have too.
        await closed.reached(1)
        let head = try await patient.response(isHead: true)
        #expect(head.headerFields[.connection] == "close")
        #expect(try await patient.remainder().count > size)
    }
}
