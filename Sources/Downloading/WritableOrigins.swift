package import Memory
import Text

package struct WritableOrigins: Sendable {
    package let origins: Origins
    private let objects: [ExactText: OriginObjects]

    package init(_ origins: Origins, web: any DataLoading, maximumReads: Int) {
        self.origins = origins
        objects = Dictionary(
            origins.all.compactMap { origin in
                OriginObjects(origin, web: web, maximumReads: maximumReads).map { (ExactText(origin.name), $0) }
            }, uniquingKeysWith: { $1 })
    }

    package subscript(name: String?) -> OriginObjects? { name.flatMap { objects[ExactText($0)] } }

    /// A reader gets the old or the new one, whole.
    package func put(_ bytes: SharedBytes, at destination: Destination, _ description: ObjectDescription) async throws {
        guard let objects = self[destination.origin.name] else { throw DownloadError.sourceNotAllowed("write: off") }
        try await objects.put(bytes, at: destination, description)
    }

    package func holds(_ destination: Destination) async throws -> Bool {
        try await self[destination.origin.name]?.holds(destination) ?? false
    }

    package func shutDown() { for objects in objects.values { objects.shutDown() } }
}
