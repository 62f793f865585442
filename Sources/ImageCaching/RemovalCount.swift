public import Synchronization

/// Counts what leaves a cache, to be read without its lock: while the count stands still, what was found is still there.
@usableFromInline
final class RemovalCount: Sendable {
    @usableFromInline let count = Atomic(0)

    @inlinable init() {}

    @inlinable var value: Int { count.load(ordering: .acquiring) }

    @inlinable func increment() { count.wrappingAdd(1, ordering: .releasing) }
}
