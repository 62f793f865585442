import Coordination
import Imaging
import Memory
import Recipes
import TestSupport

/// A codec whose encodes wait at a gate, as if they took long, and then give a few bytes.
final class HeldCodec: ImageCodec {
    private let gate = ThreadGate()
    private let begun = EventCounter()

    /// Encodes that have come to the gate.
    var begunCount: Int { begun.count }

    /// Waits until this number of encodes has reached the gate.
    func begun(_ count: Int) async { await begun.reached(count) }

    func decode(
        _ bytes: SharedBytes, header: ImageHeader, plan: DecodePlan, limits: ImagingLimits, token: WorkToken
    ) throws -> DecodedImage {
        try InProcessCodec().decode(bytes, header: header, plan: plan, limits: limits, token: token)
    }

    func encode(
        _ picture: DecodedImage, as format: ImageFormat, settings: EncoderSettings, token: WorkToken
    ) throws -> SharedBytes {
        begun.increment()
        gate.pass()
        return SharedBytes(Array("a file".utf8))
    }

    /// Lets those at the gate and all to come go on.
    func release() { gate.open() }
}
