package import Memory
import Text

/// The named origins that take writes, each with the one that reads and writes there.
package struct WritableOrigins: Sendable {
    /// All named origins, by which places are judged.
    package let origins: Origins
    private let objects: [ExactText: OriginObjects]

    /// Those of `origins` that take writes.
    ///
    /// - Parameters:
    ///   - origins: All of them.
    ///   - web: Sends signed requests.
    ///   - maximumReads: Most look-ups at once.
    package init(_ origins: Origins, web: any DataLoading, maximumReads: Int) {
        self.origins = origins
        objects = Dictionary(
            origins.all.compactMap { origin in
                OriginObjects(origin, web: web, maximumReads: maximumReads).map { (ExactText(origin.name), $0) }
            }, uniquingKeysWith: { $1 })
    }

    /// Reads and writes below the origin of this name; nil if it takes no writes.
    package subscript(name: String?) -> OriginObjects? { name.flatMap { objects[ExactText($0)] } }

    /// Puts a file or an object at a place, in place of another one; a reader finds the old one or the new one, whole.
    ///
    /// - Parameters:
    ///   - bytes: All of it.
    ///   - destination: The place.
    ///   - description: The facts that a store is told; folders keep none of it.
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    package func put(_ bytes: SharedBytes, at destination: Destination, _ description: ObjectDescription) async throws {
        guard let objects = self[destination.origin.name] else { throw DownloadError.sourceNotAllowed("write: off") }
        try await objects.put(bytes, at: destination, description)
    }

    /// Whether there is something at a place.
    ///
    /// - Throws: A ``DownloadError`` or `CancellationError`.
    package func holds(_ destination: Destination) async throws -> Bool {
        try await self[destination.origin.name]?.holds(destination) ?? false
    }

    /// Ends the threads.
    package func shutDown() { for objects in objects.values { objects.shutDown() } }
}
