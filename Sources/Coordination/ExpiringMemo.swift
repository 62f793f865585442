/// Stores values until they expire, up to a number of entries and bytes.
///
/// A full memo drops its expired values, or all values if none has expired.
///
/// A plain value; its owner locks it. Losing a value must do no harm.
package struct ExpiringMemo<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Entry {
        var value: Value
        let bytes: Int
        let end: Duration
    }

    private let capacity: Int
    private let maximumBytes: Int
    private var entries: [Key: Entry] = [:]
    /// The size of all entries in bytes.
    package private(set) var byteCount = 0

    package init(capacity: Int, maximumBytes: Int = .max) {
        precondition(capacity > 0, "a memo must be able to remember something")
        self.capacity = capacity
        self.maximumBytes = maximumBytes
    }

    /// The number of values, including expired ones.
    package var count: Int { entries.count }

    /// Stores a value until `end`.
    ///
    /// - Parameter bytes: The memory used by the key and the value.
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

    /// Returns the value, unless it has expired.
    package func value(for key: Key, at now: Duration) -> Value? {
        entries[key].flatMap { $0.end > now ? $0.value : nil }
    }

    /// Modifies a stored value without changing its expiry.
    package mutating func change(_ key: Key, at now: Duration, _ body: (inout Value) -> Void) {
        guard let end = entries[key]?.end, end > now else { return }
        if var entry = entries[key] {
            body(&entry.value)
            entries[key] = entry
        }
    }

    package mutating func forget(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { byteCount -= entry.bytes }
    }

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
