import Coordination
import Imaging
import Memory
import Recipes
import TestSupport

/// A codec whose encodes wait at a gate and then return a few bytes.
///
/// With `holdsDecodes`, expensive decodes wait instead.
final class HeldCodec: ImageCodec {
    private let holdsDecodes: Bool
    private let gate = ThreadGate()
    private let begun = EventCounter()

    init(holdsDecodes: Bool = false) { self.holdsDecodes = holdsDecodes }

    /// Number of encodes or decodes that have reached the gate.
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

    /// Opens the gate for good.
    func release() { gate.open() }
}
