import Coordination
import HTTPTypes

/// The body of a request while it arrives; event thread only.
final class ReceivedBody {
    private let head: HTTPRequest
    private let length: Int
    private let deadline: Duration
    private let timekeeper: any Timekeeper
    private var bytes: [UInt8] = []

    /// A body of `length` bytes that has `limit` to arrive; the request is complete with it.
    init(
        of request: HTTPRequest, length: Int, within limit: Duration, by timekeeper: any Timekeeper
    ) {
        head = request
        self.length = length
        self.timekeeper = timekeeper
        deadline = timekeeper.now + limit
    }

    /// Takes a part; false when it is late, or more than was announced.
    @unsafe
    func append(_ part: UnsafeRawBufferPointer) -> Bool {
        guard timekeeper.now < deadline, bytes.count + part.count <= length else { return false }
        unsafe bytes.append(contentsOf: part)
        return true
    }

    /// The request with its body; nil while that is not complete.
    var request: HTTPRequest? {
        guard bytes.count == length else { return nil }
        var request = head
        request.body = bytes
        return request
    }
}
