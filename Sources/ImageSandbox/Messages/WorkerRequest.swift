package import Imaging

/// A fixed-size message from the server to a worker.
package enum WorkerRequest: Hashable, Sendable {
    /// Process `byteCount` bytes of the input memory, and write a result of at most `room` bytes to the output memory.
    ///
    /// The message carries the descriptors of the memories in `new`.
    case perform(Work, byteCount: Int, room: Int, new: Memories)
    case attempt(ForbiddenAction)
    /// Free unused memory; this request has no answer.
    case tidyUp

    package enum Work: Hashable, Sendable {
        case decode(DecodePlan)
        /// Encode pixels without a profile, followed by the delays of this many frames; 0 for a still image.
        case encode(DecodedDescription, as: ImageFormat, settings: EncoderSettings, delays: Int = 0)
    }

    /// The memories shared by server and worker, in the order in which their descriptors travel.
    package struct Memories: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Written by the server, read by the worker.
        package static let input = Memories(rawValue: 1)
        /// Written by the worker, read by the server.
        package static let output = Memories(rawValue: 2)
        /// Replaces the kept memory for one request that exceeds it.
        package static let largeInput = Memories(rawValue: 4)
        package static let largeOutput = Memories(rawValue: 8)
        fileprivate static let all: Memories = [.input, .output, .largeInput, .largeOutput]
        var count: Int { rawValue.nonzeroBitCount }
    }

    package static let byteCount = 256

    private enum Kind: UInt8 {
        case decode = 1
        case encode, attempt, tidyUp
    }

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
            writer.put(UInt64(plan.maximumFrames))
            writer.put(plan.incompleteImages == .serve)
            writer.put(UInt8(DecodedGamut.allCases.firstIndex(of: plan.gamut) ?? 0))
            writer.put(plan.drawnSize ?? PixelSize(width: 0, height: 0))
            writer.put(plan.drawnPart != nil)
            if let part = plan.drawnPart { writer.put(part) }
        case .perform(.encode(let image, let format, let settings, let delays), let byteCount, let room, let new):
            writer.put(Kind.encode.rawValue)
            writer.put(UInt64(byteCount))
            writer.put(UInt64(room))
            writer.put(new.rawValue)
            writer.put(format)
            writer.put(UInt8(settings.quality))
            writer.put(UInt8(settings.effort))
            writer.put(UInt8(settings.bitDepth))
            writer.put(settings.isWide)
            writer.put(UInt32(delays))
            writer.put(image)
        case .attempt(let action):
            writer.put(Kind.attempt.rawValue)
            writer.put(action.rawValue)
        case .tidyUp:
            writer.put(Kind.tidyUp.rawValue)
        }
        return writer.finish()
    }

    /// Parses a request; nil if it is invalid.
    package init?(_ message: [UInt8]) {
        var reader = MessageReader(message)
        guard message.count == Self.byteCount, let kind = reader.number(UInt8.self).flatMap(Kind.init) else {
            return nil
        }
        switch kind {
        case .attempt:
            guard let action = reader.number(UInt8.self).flatMap(ForbiddenAction.init) else { return nil }
            self = .attempt(action)
            return
        case .tidyUp:
            self = .tidyUp
            return
        case .decode, .encode: break
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
            let maximumFrames = number(UInt64.self).flatMap({ Int(exactly: $0) }), maximumFrames > 0,
            let servesIncomplete = flag(), let gamut = number(UInt8.self),
            DecodedGamut.allCases.indices ~= Int(gamut), let drawnWidth = size(), let drawnHeight = size(),
            (drawnWidth > 0) == (drawnHeight > 0), let hasPart = flag()
        else { return nil }
        let part = hasPart ? drawnPart() : nil
        guard (part != nil) == hasPart else { return nil }
        return .decode(
            DecodePlan(
                page: page, level: Int(level), isAnimated: isAnimated, maximumFrames: maximumFrames,
                incompleteImages: servesIncomplete ? .serve : .refuse,
                drawnSize: drawnWidth > 0 ? PixelSize(width: drawnWidth, height: drawnHeight) : nil, drawnPart: part,
                gamut: DecodedGamut.allCases[Int(gamut)]))
    }

    private mutating func drawnPart() -> DrawnPart? {
        guard let left = size(), let top = size(), let part = pixelSize(), let whole = pixelSize(),
            let scaled = pixelSize(), let x = size(), let y = size(), left + part.width <= whole.width,
            top + part.height <= whole.height
        else { return nil }
        return DrawnPart(of: ImagePart(x: left, y: top, size: part, of: whole), scaledTo: scaled, x: x, y: y)
    }

    /// Reads a size of at least one pixel.
    private mutating func pixelSize() -> PixelSize? {
        guard let width = size(), let height = size(), min(width, height) > 0 else { return nil }
        return PixelSize(width: width, height: height)
    }

    fileprivate mutating func encoding() -> WorkerRequest.Work? {
        guard let format = format(), format.isEncodedInOneStep, let quality = number(UInt8.self), 1...100 ~= quality,
            let effort = number(UInt8.self), 0...9 ~= effort, let bitDepth = number(UInt8.self),
            format.bitDepths.contains(Int(bitDepth)), let isWide = flag(), let delays = number(UInt32.self),
            delays == 0 || delays > 1 && format.isAnimatedInOneStep, let image = description()
        else { return nil }
        let settings = EncoderSettings(
            quality: Int(quality), effort: Int(effort), bitDepth: Int(bitDepth), isWide: isWide)
        return .encode(image, as: format, settings: settings, delays: Int(delays))
    }

    /// Reads a format by its index among all formats.
    ///
    /// Both processes run the same executable, so the index means the same in both.
    private mutating func format() -> ImageFormat? {
        number(UInt8.self).flatMap { place in
            ImageFormat.allCases.indices ~= Int(place) ? ImageFormat.allCases[Int(place)] : nil
        }
    }
}

extension MessageWriter {
    fileprivate mutating func put(_ size: PixelSize) {
        put(UInt32(size.width))
        put(UInt32(size.height))
    }

    fileprivate mutating func put(_ part: DrawnPart) {
        put(UInt32(part.part.x))
        put(UInt32(part.part.y))
        put(part.part.size)
        put(part.part.whole)
        put(part.scaledSize)
        put(UInt32(part.x))
        put(UInt32(part.y))
    }

    fileprivate mutating func put(_ format: ImageFormat) {
        put(UInt8(ImageFormat.allCases.firstIndex(of: format) ?? Int(UInt8.max)))
    }
}
