package import Imaging

/// What the server asks of a worker: a message of fixed size.
package enum WorkerRequest: Hashable, Sendable {
    /// Decode the file of `byteCount` bytes in the one memory that both have into the other; those that are `new` come along.
    case decode(byteCount: Int, plan: DecodePlan, new: Memories)
    /// Try something that must not be possible.
    case attempt(Deed)

    /// What the server shares with a worker, in the order in which descriptors are sent.
    package struct Memories: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        /// What the server writes and the worker reads.
        package static let file = Memories(rawValue: 1)
        /// What the worker writes and the server reads.
        package static let pixels = Memories(rawValue: 2)
        /// How many there are.
        var count: Int { rawValue.nonzeroBitCount }
    }

    /// Size of every request.
    package static let byteCount = 32

    private enum Kind: UInt8 {
        case decode = 1
        case attempt
    }

    /// The message.
    package var message: [UInt8] {
        var writer = MessageWriter(count: Self.byteCount)
        switch self {
        case .decode(let byteCount, let plan, let new):
            writer.put(Kind.decode.rawValue)
            writer.put(UInt64(byteCount))
            writer.put(UInt32(plan.page))
            writer.put(UInt8(plan.level))
            writer.put(plan.isAnimated)
            writer.put(new.rawValue)
        case .attempt(let deed):
            writer.put(Kind.attempt.rawValue)
            writer.put(deed.rawValue)
        }
        return writer.finish()
    }

    /// Reads a message; nil for what is none.
    package init?(_ message: [UInt8]) {
        var reader = MessageReader(message)
        guard message.count == Self.byteCount, let kind = reader.number(UInt8.self).flatMap(Kind.init) else {
            return nil
        }
        switch kind {
        case .decode:
            guard let count = reader.number(UInt64.self).flatMap({ Int(exactly: $0) }), let page = reader.size(),
                let level = reader.number(UInt8.self), [1, 2, 4, 8].contains(level), let isAnimated = reader.flag(),
                let new = reader.number(UInt8.self), new <= 3
            else { return nil }
            self = .decode(
                byteCount: count, plan: DecodePlan(page: page, level: Int(level), isAnimated: isAnimated),
                new: Memories(rawValue: new))
        case .attempt:
            guard let deed = reader.number(UInt8.self).flatMap(Deed.init) else { return nil }
            self = .attempt(deed)
        }
    }
}
