public import Synchronization

/// Counts the entries that leave a cache, to be read without its lock: while the count stays the same, every value
/// that was found is still there.
@usableFromInline
final class RemovalCount: Sendable {
    @usableFromInline let count = Atomic(0)

    @inlinable init() {}

    @inlinable var value: Int { count.load(ordering: .acquiring) }

    @inlinable func increment() { count.wrappingAdd(1, ordering: .releasing) }
}
