import Coordination
import Imaging

/// Decoded images that a caller holds while many results are made of one source, so that each is decoded once even if
/// the decoded cache has no room for it.
///
/// Together they are at most half as large again as the largest: all levels of a page take a third more than the page,
/// and pages that were used before give way.
final class HeldImages: Sendable {
    private struct State {
        /// The last one is the most recently used.
        var images: [(key: DecodeKey, image: DecodedImage)] = []
    }

    private let state = Locked(State())

    init() {}

    /// Whether the image is held; changes no order.
    func contains(_ key: DecodeKey) -> Bool { state.withLock { $0.images.contains { $0.key == key } } }

    /// The image, if it is held.
    func image(for key: DecodeKey) -> DecodedImage? {
        state.withLock { state in
            guard let index = state.images.lastIndex(where: { $0.key == key }) else { return nil }
            let found = state.images.remove(at: index)
            state.images.append(found)
            return found.image
        }
    }

    func hold(_ image: DecodedImage, for key: DecodeKey) {
        let released = state.withLock { state -> [DecodedImage] in
            state.images.removeAll { $0.key == key }
            state.images.append((key, image))
            let sizes = state.images.map(\.image.byteCount)
            let most = sizes.reduce(0, max)
            var (sum, count) = (sizes.reduce(0, +), 0)
            while sum > most + most / 2, count < sizes.count - 1 {
                sum -= sizes[count]
                count += 1
            }
            defer { state.images.removeFirst(count) }
            return state.images.prefix(count).map(\.image)
        }
        // Released here, outside the lock: giving back pixels takes time.
        _ = released
    }
}
