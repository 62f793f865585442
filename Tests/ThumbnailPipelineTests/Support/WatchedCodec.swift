import Coordination
import Imaging
import Memory
import Recipes

/// Records decodes and encodes, or fails.
final class WatchedCodec: ImageCodec {
    /// Sizes of the encoded images, in order.
    let encoded = Locked<[PixelSize]>([])
    /// The error of encodes; nil if they succeed.
    let fault = Locked<(any Error)?>(nil)
    /// Decodes as nil and encodes as the width of the image, in order.
    let work = Locked<[Int?]>([])
    /// The number of next decodes that fail as underestimated.
    let underestimates = Locked(0)
    /// For each decode, whether it may fail as underestimated.
    let smallDecodes = Locked<[Bool]>([])
    private let codec = InProcessCodec()

    func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage {
        work.withLock { $0.append(nil) }
        smallDecodes.withLock { $0.append(limits.endsUnderestimatedDecodes) }
        let isUnderestimated = underestimates.withLock { count in
            count -= 1
            return count >= 0
        }
        if isUnderestimated { throw UnderestimatedDecode() }
        return try codec.decode(bytes, header: header, plan: plan, limits: limits, token: token)
    }

    func encode(
        _ picture: DecodedImage, as format: ImageFormat, settings: EncoderSettings, token: WorkToken
    ) throws -> SharedBytes {
        if let fault = fault.withLock({ $0 }) { throw fault }
        encoded.withLock { $0.append(picture.size) }
        work.withLock { $0.append(picture.size.width) }
        return try codec.encode(picture, as: format, settings: settings, token: token)
    }
}
