import Coordination
import Imaging
import Memory
import Recipes
import TestSupport

/// A codec whose encodes wait at a gate, as if they took long, and then give a few bytes.
///
/// Alternatively its expensive decodes wait there.
final class HeldCodec: ImageCodec {
    private let holdsDecodes: Bool
    private let gate = ThreadGate()
    private let begun = EventCounter()

    init(holdsDecodes: Bool = false) { self.holdsDecodes = holdsDecodes }

    /// The number that has come to the gate.
    var begunCount: Int { begun.count }

    /// Waits until this number has reached the gate.
    func begun(_ count: Int) async { await begun.reached(count) }

    func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage {
        if holdsDecodes, !limits.endsUnderestimatedDecodes { hold() }
        return try InProcessCodec().decode(bytes, header: header, plan: plan, limits: limits, token: token)
    }

    func encode(
        _ picture: DecodedImage, as format: ImageFormat, settings: EncoderSettings, token: WorkToken
    ) throws -> SharedBytes {
        if holdsDecodes {
            return try InProcessCodec().encode(picture, as: format, settings: settings, token: token)
        }
        hold()
        return SharedBytes(Array("a file".utf8))
    }

    private func hold() {
        begun.increment()
        gate.pass()
    }

    /// Lets those at the gate and all to come go on.
    func release() { gate.open() }
}
