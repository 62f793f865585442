import Crypto
import Memory
import Testing

@testable import DecodeSandbox

struct QuarantineTests {
    private func digest(_ number: UInt8) -> SHA256Digest { SharedBytes([number]).withBytes { SHA256.hash($0) } }

    @Test func `a content stays for its time and no longer`() {
        var quarantine = Quarantine(duration: .seconds(600))
        let isNew = quarantine.isEmpty(at: .zero)
        #expect(isNew)
        quarantine.insert(digest(1), at: .seconds(10))
        let isLater = quarantine.isEmpty(at: .seconds(609))
        #expect(!isLater)
        #expect(quarantine.contains(digest(1), at: .seconds(609)))
        #expect(!quarantine.contains(digest(2), at: .seconds(609)))
        #expect(!quarantine.contains(digest(1), at: .seconds(610)))
        let isLast = quarantine.isEmpty(at: .seconds(610))
        #expect(isLast)
    }

    @Test func `when it is full the one that has been there longest goes`() {
        var quarantine = Quarantine(capacity: 2)
        quarantine.insert(digest(1), at: .seconds(1))
        quarantine.insert(digest(2), at: .seconds(2))
        quarantine.insert(digest(1), at: .seconds(3))
        quarantine.insert(digest(3), at: .seconds(4))
        let kept = ([1, 2, 3] as [UInt8]).filter { quarantine.contains(digest($0), at: .seconds(5)) }
        #expect(kept == [1, 3])
    }
}
