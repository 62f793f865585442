import Coordination
import Glibc
import HTTPTypes
import Text

/// Generates random IDs; an ID can cancel its request's wait, so it must be impossible to guess.
final class RequestIDs: Sendable {
    /// The length of an ID: 75 random bits, and the longest text that Swift stores without an allocation.
    static let length = 15

    private struct Supply {
        /// Random words, filled by one system call.
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

    /// Returns the ID of a proxy if it is printable and not too long.
    static func proxyID(_ text: String) -> String? {
        (1...128).contains(text.utf8.count) && text.utf8.allSatisfy(\.isVisibleASCII) ? text : nil
    }

    func next() -> String {
        let (first, second) = supply.withLock { $0.next() }
        return unsafe String(unsafeUninitializedCapacity: Self.length) { buffer in
            var bits = first
            for index in 0..<Self.length {
                // A word holds twelve digits.
                if index == 12 { bits = second }
                unsafe buffer[index] = Self.digits[Int(bits & 31)]
                bits >>= 5
            }
            return Self.length
        }
    }
}

extension RequestIDs: RequestPreparation, ResponseCompletion {
    func prepare(_ context: inout RequestContext) {
        context.receipt = next()
        let proxyID = context.isProxied ? context.request?.headerFields[.xRequestID].flatMap(Self.proxyID) : nil
        context.id = proxyID ?? context.receipt
    }

    /// Adds `X-Request-Id` and, for requests that waited for their image, `Alula-Receipt`.
    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        outcome.response.headerFields.append(.xRequestID, context.id)
        if outcome.hasReceipt { outcome.response.headerFields.append(.alulaReceipt, context.receipt) }
    }
}
