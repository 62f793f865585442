import Coordination
import Glibc
import HTTPTypes

/// Generates random IDs, because an ID is also the receipt of its request's wait: a client that could guess it could
/// cancel the wait; one system call provides the random bits of many.
final class RequestIDs: Sendable {
    /// 75 random bits; Swift stores longer text only with an allocation.
    static let length = 15

    private struct Supply {
        /// One system call returns this many bytes.
        var words = InlineArray<32, UInt64>(repeating: 0)
        var position = 32

        mutating func next() -> (UInt64, UInt64) {
            if position >= words.count { refill() }
            defer { position += 2 }
            return (words[position], words[position + 1])
        }

        private mutating func refill() {
            let status = unsafe withUnsafeMutableBytes(of: &words) { unsafe getentropy($0.baseAddress, $0.count) }
            precondition(status == 0, "the system has no random numbers: error \(errno)")
            position = 0
        }
    }

    private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    private let supply = Locked(Supply())

    /// The ID of a proxy, if it is printable and not too long.
    static func proxyID(_ text: String) -> String? {
        (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { 0x21...0x7e ~= $0 } ? text : nil
    }

    func next() -> String {
        let (first, second) = supply.withLock { $0.next() }
        return unsafe String(unsafeUninitializedCapacity: Self.length) { buffer in
            var bits = first
            for index in 0..<Self.length {
                // One word holds twelve digits.
                if index == 12 { bits = second }
                unsafe buffer[index] = Self.digits[Int(bits & 31)]
                bits >>= 5
            }
            return Self.length
        }
    }
}

/// Writes `X-Request-Id`, and after it the receipt of a request that waited for its image.
extension RequestIDs: ResponseCompletion {
    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        outcome.response.headerFields.append(.xRequestID, context.id)
        if outcome.hasReceipt { outcome.response.headerFields.append(.alulaReceipt, context.receipt) }
    }
}
