/// Remembers values until they expire, up to a number of entries and of bytes.
///
/// If the memo is full, it drops the expired values, or all values if none has expired.
///
/// A plain value; its owner locks it. It must do no harm to forget a value.
package struct ExpiringMemo<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        var value: Value
        let bytes: Int
        let end: Duration
    }

    private let capacity: Int
    private let maximumBytes: Int
    private var entries: [Key: Entry] = [:]
    /// Bytes of all entries.
    package private(set) var byteCount = 0

    /// An empty memo of at most `capacity` entries, which take at most `maximumBytes`.
    package init(capacity: Int, maximumBytes: Int = .max) {
        precondition(capacity > 0, "a memo must be able to remember something")
        self.capacity = capacity
        self.maximumBytes = maximumBytes
    }

    /// How many values are remembered, including expired ones.
    package var count: Int { entries.count }

    /// Remembers a value until `end`.
    ///
    /// - Parameter bytes: Bytes of memory that the key and the value take.
    package mutating func remember(
        _ value: Value, for key: Key, bytes: Int = 0, until end: Duration, at now: Duration
    ) {
        guard end > now else { return }
        forget(key)
        guard bytes <= maximumBytes else { return }
        if isFull(with: bytes) { drop { $0.value.end <= now } }
        if isFull(with: bytes) { removeAll() }
        entries[key] = Entry(value: value, bytes: bytes, end: end)
        byteCount += bytes
    }

    private func isFull(with bytes: Int) -> Bool {
        entries.count >= capacity || byteCount > maximumBytes - bytes
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
    package mutating func forget(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { byteCount -= entry.bytes }
    }

    /// Forgets all values whose key matches.
    package mutating func forget(where isForgotten: (Key) -> Bool) {
        drop { isForgotten($0.key) }
    }

    package mutating func removeAll() {
        entries = [:]
        byteCount = 0
    }

    private mutating func drop(where isDropped: (Dictionary<Key, Entry>.Element) -> Bool) {
        entries = entries.filter { !isDropped($0) }
        byteCount = entries.values.reduce(0) { $0 + $1.bytes }
    }
}
