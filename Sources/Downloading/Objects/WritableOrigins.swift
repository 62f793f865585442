package import Memory
import Text

package struct WritableOrigins: Sendable {
    package let rules: DownloadRules
    private let objects: [ExactText: OriginObjects]

    /// - Parameter earlier: The origins before a reload; unchanged ones are reused.
    package init(
        _ rules: DownloadRules, web: any DataLoading, maximumReads: Int, after earlier: WritableOrigins? = nil
    ) {
        self.rules = rules
        objects = Dictionary(
            rules.all.compactMap { rules in
                guard let name = rules.origin?.name else { return nil }
                let unchanged = earlier?[name].flatMap { $0.serves(rules) ? $0 : nil }
                return (unchanged ?? OriginObjects(rules, web: web, maximumReads: maximumReads)).map {
                    (ExactText(name), $0)
                }
            }, uniquingKeysWith: { $1 })
    }

    /// Returns the origins that `new` does not reuse.
    package func replaced(by new: WritableOrigins) -> [OriginObjects] {
        objects.filter { $0.value !== new.objects[$0.key] }.map(\.value)
    }

    package subscript(name: String?) -> OriginObjects? { name.flatMap { objects[ExactText($0)] } }

    /// Stores a result atomically: readers see the old or the new object.
    package func put(_ bytes: SharedBytes, at destination: Destination, description: ObjectDescription) async throws {
        guard let objects = self[destination.origin.name] else {
            throw DownloadError.sourceNotAllowed("origins: not writable")
        }
        try await objects.put(bytes, at: destination, description: description)
    }

    package func holds(_ destination: Destination) async throws -> Bool {
        try await self[destination.origin.name]?.holds(destination) ?? false
    }

    package func shutDown() { for objects in objects.values { objects.shutDown() } }
}
