/// Remembers values until they expire, up to a number of entries.
///
/// If the memo is full, it drops the expired values, or all values if none has expired.
///
/// A plain value; its owner locks it. It must do no harm to forget a value.
package struct ExpiringMemo<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        var value: Value
        let end: Duration
    }

    private let capacity: Int
    private var entries: [Key: Entry] = [:]

    /// An empty memo of at most `capacity` entries.
    package init(capacity: Int) {
        precondition(capacity > 0, "a memo must be able to remember something")
        self.capacity = capacity
    }

    /// How many values are remembered, including expired ones.
    package var count: Int { entries.count }

    /// Remembers a value until `end`.
    package mutating func remember(_ value: Value, for key: Key, until end: Duration, at now: Duration) {
        guard end > now else { return }
        if entries.count >= capacity, entries[key] == nil {
            entries = entries.filter { $0.value.end > now }
            if entries.count >= capacity { entries = [:] }
        }
        entries[key] = Entry(value: value, end: end)
    }

    /// The value that is remembered.
    package func value(for key: Key, at now: Duration) -> Value? {
        entries[key].flatMap { $0.end > now ? $0.value : nil }
    }

    /// Changes a remembered value, which still expires at the same time.
    package mutating func change(_ key: Key, at now: Duration, _ body: (inout Value) -> Void) {
        guard let end = entries[key]?.end, end > now else { return }
        if var entry = entries[key] {
            body(&entry.value)
            entries[key] = entry
        }
    }

    /// Forgets the value of a key.
    package mutating func forget(_ key: Key) { entries[key] = nil }

    /// Forgets all values whose key matches.
    package mutating func forget(where isForgotten: (Key) -> Bool) {
        entries = entries.filter { !isForgotten($0.key) }
    }

    /// Forgets all values.
    package mutating func removeAll() { entries = [:] }
}
