import CCodedImages
import Coordination
import Memory
import Recipes

struct HEIFFrames {
    private let sequence: HEIFSequence
    private let colors: HEIFColors?
    private let profile: Range<Int>?
    private let size: PixelSize

    init(_ sequence: HEIFSequence) {
        self.sequence = sequence
        size = sequence.colors.size
        colors = sequence.colors.properties.colors
        profile = sequence.colors.properties.profile
    }

    func pixels(_ file: SharedBytes, header: ImageHeader, plan: DecodePlan, token: WorkToken) throws -> DecodedPixels {
        let frames = plan.frames(of: header)
        let requestedFrames = plan.page..<plan.page + frames
        let start = try file.withBytes { bytes throws(ImagingError) in
            try min(
                sequence.colors.start(of: plan.page, in: bytes),
                sequence.alpha?.start(of: plan.page, in: bytes) ?? plan.page)
        }
        let colorFrames = try TrackDecoder(sequence.colors, in: file)
        let alphaFrames = try sequence.alpha.map { track throws(ImagingError) in try TrackDecoder(track, in: file) }
        var memory = PlaneMemory()
        var bands = 0
        for index in start..<requestedFrames.upperBound {
            try token.check()
            let isWanted = requestedFrames ~= index
            let image = try colorFrames.decode(index, in: file, maximumPlanes: isWanted ? 3 : 0)
            let alpha = try alphaFrames?.decode(index, in: file, maximumPlanes: isWanted ? 1 : 0)
            guard isWanted, let image else { continue }
            if bands == 0 {
                bands = image.planes.count + (alpha == nil ? 0 : 1)
                memory = try PlaneMemory(count: size.area * bands * frames)
            }
            guard bands == image.planes.count + (alpha == nil ? 0 : 1),
                let frameColors = image.codedColors(declared: colors)
            else {
                throw ImagingError.cannotDecode(detail: "the frames have different or unknown colors")
            }
            let offset = (index - plan.page) * size.area * bands
            try frameColors.interleave(
                image, alpha: alpha, isAlphaFull: alpha?.colors.isFullRange ?? true, into: memory, at: offset)
            if alpha != nil, sequence.colors.isPremultiplied {
                unsafe CCodedImages_divide_by_alpha(
                    memory.bytes.baseAddress?.advanced(by: offset), Int32(bands), size.area, 0)
            }
        }
        let delays =
            try frames == 1
            ? []
            : file.withBytes { bytes throws(ImagingError) in
                try sequence.colors.delays(in: bytes)
            }
        return DecodedPixels(
            pixels: memory.finish(), size: size, bands: bands, profile: file.profile(at: profile),
            delays: frames == 1 ? [] : Array(delays[requestedFrames]), loop: frames == 1 ? 0 : sequence.colors.loop)
    }
}

private struct TrackDecoder {
    private let track: HEIFTrack
    private let locations: [Range<Int>]
    private let decoder: CodedDecoder
    private let parameters: Range<Int>

    init(_ track: HEIFTrack, in file: SharedBytes) throws(ImagingError) {
        self.track = track
        locations = try file.withBytes { bytes throws(ImagingError) in try track.locations(in: bytes) }
        decoder = try CodedDecoder(track.coding ?? .av1, size: track.size)
        parameters = track.properties.parameters ?? 0..<0
    }

    /// Decodes a frame; returns nil for frames that are needed only by later ones.
    func decode(_ index: Int, in file: SharedBytes, maximumPlanes: Int) throws -> CodedPlanes? {
        try file.withBytes { bytes throws in
            let frame = unsafe try decoder.frame(
                of: bytes.extracting(locations[index]), parameters: bytes.extracting(parameters))
            guard maximumPlanes > 0 else { return nil }
            let planes = try CodedPlanes(
                frame, visible: PixelRectangle(size: track.size), level: 1, maximumPlanes: maximumPlanes,
                allocate: { try PlaneMemory(count: $0) })
            unsafe try planes.add(frame, left: 0, top: 0)
            planes.finish()
            return planes
        }
    }
}
