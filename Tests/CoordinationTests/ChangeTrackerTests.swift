import Coordination
import Testing

struct ChangeTrackerTests {
    @Test func `a reader sees changes of its own key only`() {
        var changes = ChangeTracker<String>()
        let (own, other) = (changes.begin("/a"), changes.begin("/b"))
        changes.record("/c")
        #expect(changes.isUnchanged(since: own) && changes.isUnchanged(since: other))
        changes.record("/a")
        #expect(!changes.isUnchanged(since: own) && changes.isUnchanged(since: other))
        let later = changes.begin("/a")
        #expect(changes.isUnchanged(since: later))
    }

    @Test func `a change of all keys is visible to all readers`() {
        var changes = ChangeTracker<String>()
        let ticket = changes.begin("/a")
        changes.recordAll()
        #expect(!changes.isUnchanged(since: ticket))
        let later = changes.begin("/b")
        #expect(changes.isUnchanged(since: later))
    }

    @Test func `only keys in use are counted`() {
        var changes = ChangeTracker<String>()
        for number in 0..<100 { changes.record("/\(number)") }
        #expect(changes.count == 0)
        let tickets = [changes.begin("/a"), changes.begin("/a")]
        #expect(changes.count == 1)
        changes.end(tickets[0])
        changes.record("/a")
        #expect(!changes.isUnchanged(since: tickets[1]))
        changes.end(tickets[1])
        #expect(changes.count == 0)
    }
}
