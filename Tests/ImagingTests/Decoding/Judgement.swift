import Coordination
import Imaging
import Memory
import Recipes

/// The result of a decode.
enum Judgement: Hashable {
    case whole, incomplete, undecodable

    /// The judgment of a file at one level, by one lane, if images that lack pixels are served.
    init(_ bytes: SharedBytes, _ plan: DecodePlan, lane: ImageDecoder.Lane) throws {
        do {
            self = try Self.decode(bytes, plan, lane: lane).isIncomplete ? .incomplete : .whole
        } catch ImagingError.cannotDecode {
            self = .undecodable
        }
    }

    /// Those of a file at all levels and by both lanes.
    static func all(of bytes: SharedBytes) throws -> Set<Judgement> {
        var found: Set<Judgement> = []
        for lane in ImageDecoder.Lane.allCases {
            for level in [1, 2, 4, 8] {
                found.insert(try Judgement(bytes, DecodePlan(level: level, incompleteImages: .serve), lane: lane))
            }
        }
        return found
    }

    /// The image in interleaved pixels.
    static func decode(
        _ bytes: SharedBytes, _ plan: DecodePlan = DecodePlan(), lane: ImageDecoder.Lane
    ) throws -> DecodedImage {
        try ImageLibrary.start()
        return try ImageDecoder.decode(
            bytes, header: .inspect(bytes), plan: plan, limits: ImagingLimits(), token: WorkToken(), lane: lane)
    }
}
