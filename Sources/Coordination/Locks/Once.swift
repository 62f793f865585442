/// A lazily created value: the first thread that needs it creates it, while others wait.
public final class Once<Value: Sendable>: Sendable {
    private let make: @Sendable () -> Value
    private let stored = Locked<Value?>(nil)

    public init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    public var value: Value {
        stored.withLock { stored in
            let value = stored ?? make()
            stored = value
            return value
        }
    }

    public var existing: Value? { stored.withLock(\.self) }
}
