package import Imaging
package import Recipes

package enum WorkerRequest: Hashable, Sendable {
    /// Processes `byteCount` bytes of the input memory, and writes at most `maximumResultBytes` to the output memory.
    ///
    /// The message carries the descriptors of the memories in `newMemories`.
    case perform(Work, byteCount: Int, maximumResultBytes: Int, newMemories: Memories)
    case attempt(ForbiddenAction)
    /// Frees unused memory; has no response.
    case releaseMemory

    package enum Work: Hashable, Sendable {
        case decode(DecodePlan)
        case encode(DecodedDescription, as: ImageFormat, settings: EncoderSettings, delays: Int = 0)
        /// Finds faces in luma of this size, which follows the cascades.
        case findFaces(PixelSize)
    }

    /// Memories whose descriptors a message carries, in this order.
    package struct Memories: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let input = Memories(rawValue: 1)
        package static let output = Memories(rawValue: 2)
        /// Memory for one request that exceeds the reusable memory.
        package static let largeInput = Memories(rawValue: 4)
        package static let largeOutput = Memories(rawValue: 8)
        var count: Int { rawValue.nonzeroBitCount }
    }

    package static let byteCount = MessageCoder.messageLength

    /// The first byte of a message.
    private enum Kind: Int {
        case decode = 1
        case encode, attempt, releaseMemory, findFaces

        /// A request of this kind, to start reading from.
        var initialRequest: WorkerRequest {
            let unit = PixelSize(width: 1, height: 1)
            let work: Work
            switch self {
            case .decode: work = .decode(DecodePlan())
            case .encode:
                work = .encode(
                    DecodedDescription(size: unit, bands: 1), as: .jpeg,
                    settings: EncoderSettings(quality: 1, effort: 0))
            case .findFaces: work = .findFaces(unit)
            case .attempt: return .attempt(.openFile)
            case .releaseMemory: return .releaseMemory
            }
            return .perform(work, byteCount: 0, maximumResultBytes: 0, newMemories: [])
        }
    }

    private var kind: Kind {
        switch self {
        case .perform(.decode, _, _, _): .decode
        case .perform(.encode, _, _, _): .encode
        case .perform(.findFaces, _, _, _): .findFaces
        case .attempt: .attempt
        case .releaseMemory: .releaseMemory
        }
    }

    package var message: [UInt8] { MessageCoder.message(of: self, kind: kind.rawValue) { $0.request($1) } }

    package init?(_ message: [UInt8]) {
        let read = MessageCoder.read(message, startingFrom: { Kind(rawValue: $0)?.initialRequest }) { $0.request($1) }
        guard let read else { return nil }
        self = read
    }
}

extension MessageCoder {
    fileprivate mutating func request(_ request: WorkerRequest) -> WorkerRequest {
        switch request {
        case .perform(let work, let byteCount, let maximumResultBytes, let newMemories):
            let byteCount = long(byteCount)
            let maximumResultBytes = long(maximumResultBytes)
            let memories = WorkerRequest.Memories(rawValue: UInt8(index(Int(newMemories.rawValue), below: 16)))
            return .perform(
                self.work(work), byteCount: byteCount, maximumResultBytes: maximumResultBytes, newMemories: memories)
        case .attempt(let action): return .attempt(element(action, of: ForbiddenAction.allCases))
        case .releaseMemory: return .releaseMemory
        }
    }

    private mutating func work(_ work: WorkerRequest.Work) -> WorkerRequest.Work {
        switch work {
        case .decode(let plan): return .decode(self.plan(plan))
        case .findFaces(let size): return .findFaces(pixelSize(size))
        case .encode(let image, let format, let requested, let delays):
            let format = element(format, of: ImageFormat.allCases)
            var settings = EncoderSettings(
                quality: byte(requested.quality), effort: byte(requested.effort), bitDepth: byte(requested.bitDepth),
                isDisplayP3: flag(requested.isDisplayP3), isLossless: flag(requested.isLossless))
            let delays = size(delays)
            // 0 means that it is unknown.
            let visualQuality = byte(requested.visualQuality ?? 0)
            settings.visualQuality = visualQuality == 0 ? nil : visualQuality
            require(format.isEncodedByWorker && 1...100 ~= settings.quality && 0...9 ~= settings.effort)
            require(format.bitDepths.contains(settings.bitDepth) && visualQuality <= 100)
            require(delays == 0 || delays > 1 && format.isAnimationEncodedByWorker)
            return .encode(description(image), as: format, settings: settings, delays: delays)
        }
    }

    private mutating func plan(_ plan: DecodePlan) -> DecodePlan {
        let page = size(plan.page)
        let level = byte(plan.level)
        let isAnimated = flag(plan.isAnimated)
        let frames = long(plan.maximumFrames)
        let serves = flag(plan.incompleteImages == .serve)
        let gamut = element(plan.gamut, of: DecodedGamut.allCases)
        // Levels are powers of two, so their sum identifies them.
        let coarser = index(plan.coarserLevels.reduce(0, +), below: 16)
        require(coarser == 0 || coarser & 1 == 0 && coarser & -coarser > level)
        let drawn = pixelSize(plan.drawnSize ?? PixelSize(width: 0, height: 0))
        require([1, 2, 4, 8].contains(level) && frames > 0 && (drawn.width > 0) == (drawn.height > 0))
        let unit = PixelSize(width: 1, height: 1)
        let region =
            flag(plan.drawnRegion != nil)
            ? drawnRegion(plan.drawnRegion ?? DrawnRegion(of: ImageRegion(allOf: unit), scaledTo: unit)) : nil
        return DecodePlan(
            page: page, level: level, isAnimated: isAnimated, maximumFrames: frames,
            incompleteImages: serves ? .serve : .reject, drawnSize: drawn.width > 0 ? drawn : nil, drawnRegion: region,
            gamut: gamut
        ).with(coarserLevels: [2, 4, 8].filter { coarser & $0 != 0 })
    }

    private mutating func drawnRegion(_ drawn: DrawnRegion) -> DrawnRegion {
        let left = size(drawn.region.x)
        let top = size(drawn.region.y)
        let region = pixelSize(drawn.region.size)
        let whole = pixelSize(drawn.region.whole)
        let scaled = pixelSize(drawn.scaledSize)
        require([region, whole, scaled].allSatisfy { min($0.width, $0.height) > 0 })
        require(left + region.width <= whole.width && top + region.height <= whole.height)
        return DrawnRegion(
            of: ImageRegion(x: left, y: top, size: region, of: whole), scaledTo: scaled, x: size(drawn.x),
            y: size(drawn.y))
    }
}
