package import Imaging

/// What the server asks of a worker: a message of fixed size.
package enum WorkerRequest: Hashable, Sendable {
    /// Do this with the `byteCount` bytes in the one memory that both have, and leave what comes of it in the other, where there is `room`
    /// for so many bytes; those that are `new` come along.
    case perform(Work, byteCount: Int, room: Int, new: Memories)
    /// Try something that must not be possible.
    case attempt(Deed)

    /// What a worker is there for.
    package enum Work: Hashable, Sendable {
        /// Decode the file.
        case decode(DecodePlan)
        /// Write the pixels of a still, which has neither delays nor a profile, as a file.
        case encode(DecodedDescription, as: ImageFormat, quality: Int)
    }

    /// What the server shares with a worker, in the order in which descriptors are sent.
    package struct Memories: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        /// What the server writes and the worker reads.
        package static let input = Memories(rawValue: 1)
        /// What the worker writes and the server reads.
        package static let output = Memories(rawValue: 2)
        /// In place of these where there is more than is kept, for this work only.
        package static let largeInput = Memories(rawValue: 4)
        package static let largeOutput = Memories(rawValue: 8)
        fileprivate static let all: Memories = [.input, .output, .largeInput, .largeOutput]
        /// How many there are.
        var count: Int { rawValue.nonzeroBitCount }
    }

    /// Size of every request.
    package static let byteCount = 256

    private enum Kind: UInt8 {
        case decode = 1
        case encode, attempt
    }

    /// The message.
    package var message: [UInt8] {
        var writer = MessageWriter(count: Self.byteCount)
        switch self {
        case .perform(.decode(let plan), let byteCount, let room, let new):
            writer.put(Kind.decode.rawValue)
            writer.put(UInt64(byteCount))
            writer.put(UInt64(room))
            writer.put(new.rawValue)
            writer.put(UInt32(plan.page))
            writer.put(UInt8(plan.level))
            writer.put(plan.isAnimated)
            writer.put(UInt64(plan.mostFrames))
            writer.put(plan.incompleteImages == .serve)
        case .perform(.encode(let picture, let format, let quality), let byteCount, let room, let new):
            writer.put(Kind.encode.rawValue)
            writer.put(UInt64(byteCount))
            writer.put(UInt64(room))
            writer.put(new.rawValue)
            writer.put(format)
            writer.put(UInt8(quality))
            writer.put(picture)
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
        if kind == .attempt {
            guard let deed = reader.number(UInt8.self).flatMap(Deed.init) else { return nil }
            self = .attempt(deed)
            return
        }
        guard let count = reader.number(UInt64.self).flatMap({ Int(exactly: $0) }),
            let room = reader.number(UInt64.self).flatMap({ Int(exactly: $0) }),
            let new = reader.number(UInt8.self), new <= Memories.all.rawValue,
            let work = kind == .decode ? reader.decoding() : reader.encoding()
        else { return nil }
        self = .perform(work, byteCount: count, room: room, new: Memories(rawValue: new))
    }
}

extension MessageReader {
    fileprivate mutating func decoding() -> WorkerRequest.Work? {
        guard let page = size(), let level = number(UInt8.self), [1, 2, 4, 8].contains(level), let isAnimated = flag(),
            let mostFrames = number(UInt64.self).flatMap({ Int(exactly: $0) }), mostFrames > 0,
            let servesIncomplete = flag()
        else { return nil }
        return .decode(
            DecodePlan(
                page: page, level: Int(level), isAnimated: isAnimated, mostFrames: mostFrames,
                incompleteImages: servesIncomplete ? .serve : .refuse))
    }

    fileprivate mutating func encoding() -> WorkerRequest.Work? {
        guard let format = format(), format.isEncodedInOneStep, let quality = number(UInt8.self), 1...100 ~= quality,
            let picture = description()
        else { return nil }
        return .encode(picture, as: format, quality: Int(quality))
    }

    /// A format by its place among all: both processes are the same executable.
    private mutating func format() -> ImageFormat? {
        number(UInt8.self).flatMap { place in
            ImageFormat.allCases.indices ~= Int(place) ? ImageFormat.allCases[Int(place)] : nil
        }
    }
}

extension MessageWriter {
    fileprivate mutating func put(_ format: ImageFormat) {
        put(UInt8(ImageFormat.allCases.firstIndex(of: format) ?? Int(UInt8.max)))
    }
}
