import CMicrohttpdShim
import HTTPTypes

/// A recurring response in the library's form, which counts its uses under a lock of its own.
@safe
final class SharedOutgoingResponse: @unchecked Sendable {
    private let outgoing: OutgoingResponse

    /// Fields that may not go on the wire and were left out.
    var refusedFieldCount: Int { outgoing.refusedFieldCount }

    /// Takes over a response that leaves its connection open, nil without memory.
    init?(_ response: HTTPResponse) {
        guard let outgoing = OutgoingResponse(response, isLast: false) else { return nil }
        self.outgoing = outgoing
    }

    /// Queues the response for the request in hand, on its event thread; false when it was too late.
    func queue(on connection: OpaquePointer) -> Bool {
        unsafe outgoing.queue(on: connection)
    }
}
