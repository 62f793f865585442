/// A one-shot value: the first `fulfill` wins, and one caller awaits it.
package final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case fulfilled(Value)
        case taken
    }

    private let state = Locked(State.open)

    package init() {}

    package func fulfill(_ value: Value) {
        let waiter: CheckedContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .open:
                state = .fulfilled(value)
                return nil
            case .awaited(let continuation):
                state = .taken
                return continuation
            case .fulfilled, .taken: return nil
            }
        }
        waiter?.resume(returning: value)
    }

    /// Waits for the value; may be called only once.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let value: Value? = state.withLock { state in
                if case .fulfilled(let value) = state {
                    state = .taken
                    return value
                }
                state = .awaited(continuation)
                return nil
            }
            if let value { continuation.resume(returning: value) }
        }
    }

    /// Waits for the value; returns `fallback` if the caller is canceled.
    package func value(orIfCanceled fallback: Value) async -> Value {
        await withTaskCancellationHandler {
            await value()
        } onCancel: {
            fulfill(fallback)
        }
    }

    /// Waits for the value; returns `fallback` after `limit`, or if the caller is canceled.
    package func value(within limit: Duration, by timekeeper: any Timekeeper, or fallback: Value) async -> Value {
        let timer = Task {
            do {
                try await timekeeper.sleep(until: timekeeper.now + limit)
                fulfill(fallback)
            } catch {
                // The value came first.
            }
        }
        defer { timer.cancel() }
        return await value(orIfCanceled: fallback)
    }
}
