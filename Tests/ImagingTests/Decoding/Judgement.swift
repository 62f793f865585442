import Coordination
import Imaging
import Memory
import Recipes

enum Judgement: Hashable {
    case whole, incomplete, undecodable

    /// The result of a decode in one lane if incomplete images are served.
    init(_ bytes: SharedBytes, _ plan: DecodePlan, lane: ImageDecoder.Lane) throws {
        do {
            self = try Self.decode(bytes, plan, lane: lane).isIncomplete ? .incomplete : .whole
        } catch ImagingError.cannotDecode {
            self = .undecodable
        }
    }

    /// Results of a file at all levels in both lanes.
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
