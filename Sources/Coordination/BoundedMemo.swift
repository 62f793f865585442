/// Remembers values that are cheap to compute again, up to a number of entries; when full it forgets all and starts over.
///
/// For pure results asked for again and again. Nothing depends on what it remembers.
public final class BoundedMemo<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline let entries = Locked<[Key: Value]>([:])
    @usableFromInline let capacity: Int

    /// An empty memo of at most `capacity` entries.
    @inlinable public init(capacity: Int) {
        precondition(capacity > 0, "a memo must be able to remember something")
        self.capacity = capacity
    }

    /// The remembered value; setting remembers one.
    @inlinable public subscript(key: Key) -> Value? {
        get { entries.withLock { $0[key] } }
        set {
            let forgotten = entries.withLock { entries -> [Key: Value]? in
                let full = entries.count >= capacity && entries[key] == nil ? entries : nil
                if full != nil { entries = [:] }
                entries[key] = newValue
                return full
            }
            // Released here, outside the lock.
            _ = forgotten
        }
    }
}
