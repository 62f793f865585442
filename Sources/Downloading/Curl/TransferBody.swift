import HTTPTypes
import Memory

struct TransferBody: ~Copyable {
    private(set) var response: (head: ResponseHead, requestedAt: HTTPDate)?
    /// The received part of a truncated body, if the rest can be requested.
    private(set) var partial: PartialBody?
    private(set) var count = 0
    private var sink: BodySink?
    private var resumptions = 0

    /// Begins the body of a response, and drops earlier bytes.
    mutating func begin(_ head: ResponseHead, requestedAt: HTTPDate, isRedirected: Bool) {
        sink = BodySink(head: head, isRedirected: isRedirected)
        response = (head, requestedAt)
        count = 0
    }

    @unsafe
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        unsafe sink?.append(bytes)
        count += bytes.count
    }

    mutating func startOver() { partial = nil }

    mutating func prepareResumption() -> Bool {
        guard resumptions < PartialBody.maximumResumptions, let response,
            let rest = PartialBody(of: response.head, receivedBytes: count)
        else { return false }
        resumptions += 1
        partial = rest
        return true
    }

    mutating func finish() -> (bytes: SharedBytes, validator: SourceValidator)? { sink.take()?.finish() }
}
