import Synchronization

/// Makes the names of requests: unique in a process, without order or count to be read from them.
final class RequestIDs: Sendable {
    private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    private let last: Atomic<UInt64>

    /// Starts anywhere.
    init() {
        last = Atomic(UInt64.random(in: .min ... .max))
    }

    /// The next name: 13 characters, short enough that Swift stores it without an allocation.
    func next() -> String {
        var bits = Self.scrambled(last.wrappingAdd(0x9e37_79b9_7f4a_7c15, ordering: .relaxed).newValue)
        return unsafe String(unsafeUninitializedCapacity: 13) { buffer in
            for index in 0..<13 {
                unsafe buffer[index] = Self.digits[Int(bits & 31)]
                bits >>= 5
            }
            return 13
        }
    }

    /// A bijection of 64 bits (the finaliser of SplitMix64), so distinct numbers stay distinct.
    private static func scrambled(_ number: UInt64) -> UInt64 {
        var bits = number
        bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
        return bits ^ bits >> 31
    }
}
