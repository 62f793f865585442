/// A value that is made at its first use, by the thread that needs it first, while others wait.
public final class Once<Value: Sendable>: Sendable {
    private let make: @Sendable () -> Value
    private let made = Locked<Value?>(nil)

    public init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    public var value: Value {
        made.withLock { made in
            let value = made ?? make()
            made = value
            return value
        }
    }

    /// Nil before the first use.
    public var existing: Value? { made.withLock(\.self) }
}
