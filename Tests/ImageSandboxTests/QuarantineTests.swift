import Testing

@testable import ImageSandbox

struct QuarantineTests {
    @Test func `a content is rejected for its time and no longer`() {
        var quarantine = Quarantine<Int>(duration: .seconds(600))
        let isNew = quarantine.isEmpty(at: .zero)
        #expect(isNew)
        quarantine.insert(1, at: .seconds(10))
        let isLater = quarantine.isEmpty(at: .seconds(609))
        #expect(!isLater)
        #expect(quarantine.contains(1, at: .seconds(609)))
        #expect(!quarantine.contains(2, at: .seconds(609)))
        #expect(!quarantine.contains(1, at: .seconds(610)))
        let isLast = quarantine.isEmpty(at: .seconds(610))
        #expect(isLast)
    }

    @Test func `a full quarantine drops its oldest content`() {
        var quarantine = Quarantine<Int>(capacity: 2)
        quarantine.insert(1, at: .seconds(1))
        quarantine.insert(2, at: .seconds(2))
        quarantine.insert(1, at: .seconds(3))
        quarantine.insert(3, at: .seconds(4))
        let kept = [1, 2, 3].filter { quarantine.contains($0, at: .seconds(5)) }
        #expect(kept == [1, 3])
    }
}
