/// A lazily created value: the first thread that needs it creates it, while others wait.
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
    public var existing: Value? { made.withLock(\.self) }
}
