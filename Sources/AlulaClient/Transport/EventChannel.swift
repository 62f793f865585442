/// A channel from a producer to one or more tasks; each event is delivered to one reader, in order.
///
/// `AsyncThrowingStream` would end the program if two tasks read concurrently.
final class EventChannel<Event: Sendable>: Sendable {
    private typealias Reading = Result<Event?, ClientError>

    private struct State {
        var events: ArraySlice<Event> = []
        var readers: [CheckedContinuation<Reading, Never>] = []
        var end: Reading?
    }

    private let state = Guarded(State())
    private let onCancel: @Sendable () -> Void

    /// Creates a channel.
    ///
    /// - Parameter onCancel: Called at most once, if the readers leave before the end.
    init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

    /// Sends an event, unless the channel has ended.
    ///
    /// - Parameter isObsolete: Whether the last event, if no one has read it yet, is replaced by this one.
    func send(_ event: Event, replacing isObsolete: (Event) -> Bool = { _ in false }) {
        let reader = state.withLock { state -> CheckedContinuation<Reading, Never>? in
            guard state.end == nil else { return nil }
            if !state.readers.isEmpty { return state.readers.removeFirst() }
            if let last = state.events.last, isObsolete(last) { state.events.removeLast() }
            state.events.append(event)
            return nil
        }
        reader?.resume(returning: .success(event))
    }

    /// Ends the channel; events that were sent before can still be read.
    func finish(throwing error: ClientError? = nil) { _ = end(error.map { .failure($0) } ?? .success(nil)) }

    /// Ends the channel for its readers, with ``ClientError/cancelled``.
    func cancel() { if end(.failure(.cancelled)) { onCancel() } }

    /// Returns the next event; nil after the last one.
    ///
    /// Canceling the reading task cancels the channel.
    func next() async throws(ClientError) -> Event? {
        let reading = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let reading = state.withLock { state -> Reading? in
                    if let event = state.events.popFirst() { return .success(event) }
                    if state.end == nil { state.readers.append(continuation) }
                    return state.end
                }
                if let reading { continuation.resume(returning: reading) }
            }
        } onCancel: {
            cancel()
        }
        return try reading.get()
    }

    /// Ends the channel; false if it had ended.
    private func end(_ reading: Reading) -> Bool {
        let readers = state.withLock { state -> [CheckedContinuation<Reading, Never>]? in
            guard state.end == nil else { return nil }
            state.end = reading
            defer { state.readers = [] }
            return state.readers
        }
        for reader in readers ?? [] { reader.resume(returning: reading) }
        return readers != nil
    }
}

/// The readers' end of a channel: dropping its last copy cancels the channel.
final class EventReader<Event: Sendable>: Sendable {
    private let channel: EventChannel<Event>

    init(_ channel: EventChannel<Event>) { self.channel = channel }

    deinit { channel.cancel() }

    func next() async throws(ClientError) -> Event? { try await channel.next() }
}
