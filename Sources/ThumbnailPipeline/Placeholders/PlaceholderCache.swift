import Coordination
import ImageCaching
import Imaging
import Memory

/// The identity of a placeholder: those with equal keys have equal bytes.
struct PlaceholderKey: SourceKeyed {
    let color: Color
    let size: PixelSize
    let format: ImageFormat

    /// A plain image has no source; what it is made from is its colour.
    var source: Color { color }

    var byteCount: Int { EntryCost.bytes(of: Self.self) }
}

/// Placeholders that were made lately, and those that are being made: each once for all requests that want it.
///
/// They depend on nothing that could change, so they are never stale. Clients are told `no-store` all the same, because
/// the source may be there the next time.
struct PlaceholderCache: Sendable {
    /// A plain image of the usual size takes two kilobytes, the largest some hundreds.
    private static let capacity = 4 << 20

    private let made = AutoPurgingImageCache<PlaceholderKey, EncodedImage>(
        memoryCapacity: capacity, preferredMemoryUsageAfterPurge: capacity / 4 * 3, cost: { $0.bytes.footprint + 1_024 }
    )
    private let tasks = SharedTasks<PlaceholderKey, EncodedImage>()

    /// How many are being made.
    var makingCount: Int { tasks.count }

    /// How many callers wait for this one.
    func waiterCount(for key: PlaceholderKey) -> Int { tasks.waiterCount(for: key) }

    /// The placeholder, made by `make` if it is not there.
    ///
    /// - Throws: The error of `make`; `CancellationError` when the caller is cancelled.
    func image(
        for key: PlaceholderKey, make: @escaping @Sendable () async throws -> EncodedImage
    ) async throws -> EncodedImage {
        try await tasks.value(for: key, cached: { made.value(for: key) }) {
            let image = try await make()
            made.add(image, for: key)
            return image
        }.value
    }
}
