import Testing

@testable import ThumbnailAPI

@Suite struct RequestIDsTests {
    private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    @Test func `request IDs are short, plain and distinct`() {
        let ids = RequestIDs()
        let names = (0..<10_000).map { _ in ids.next() }
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.utf8.count == 15 && $0.utf8.allSatisfy { Self.digits.contains($0) } })
    }

    @Test func `a request ID does not reveal the next one`() {
        // An attacker could do this if the IDs were a counter behind a published bijection.
        let names = { (ids: RequestIDs) in (0..<200).map { _ in Self.number(ids.next()) } }(RequestIDs())
        let steps = zip(names, names.dropFirst()).map { Self.unscrambled($1) &- Self.unscrambled($0) }
        #expect(Set(steps).count == steps.count)
    }

    @Test func `every bit of a request ID varies`() {
        let ids = RequestIDs()
        let names = (0..<2_000).map { _ in Array(ids.next().utf8).map { Self.digits.firstIndex(of: $0) ?? 0 } }
        for place in 0..<15 {
            for bit in 0..<5 {
                // A fair bit is set 1000 times of 2000, hardly ever with a deviation above 224 (ten sigma).
                let set = names.count { $0[place] >> bit & 1 == 1 }
                #expect((776...1_224).contains(set), "digit \(place), bit \(bit)")
            }
        }
    }

    @Test func `two generators of request IDs begin differently`() {
        #expect(RequestIDs().next() != RequestIDs().next())
    }

    /// The first 64 bits of an ID.
    private static func number(_ name: String) -> UInt64 {
        name.utf8.prefix(13).reversed().reduce(0) { $0 << 5 | UInt64(digits.firstIndex(of: $1) ?? 0) }
    }

    /// Inverts the finalizer of SplitMix64.
    private static func unscrambled(_ number: UInt64) -> UInt64 {
        var bits = number
        bits = (bits ^ bits >> 31 ^ bits >> 62) &* 0x3196_42b2_d24d_8ec3
        bits = (bits ^ bits >> 27 ^ bits >> 54) &* 0x96de_1b17_3f11_9089
        return bits ^ bits >> 30 ^ bits >> 60
    }
}
