import Memory

/// How many sources are read or removed at once.
private let sourcesAtOnce = 16
/// More than a source and its name have.
private let mostMemberBytes = 8 << 10

extension ObjectPlace {
    /// Makes all that was written about sources unreadable.
    func replaceGenerations(of sources: [SharedSource]) async throws {
        _ = try await severalAtOnce(sources.map { ObjectNames.generation($0.label) }) { name in
            try await self.keep(SharedBytes(Generation().text), named: name, isLasting: true)
        }
    }

    /// The sources that objects in a folder name; those that cannot be read are left out.
    func members(_ names: [String], in folder: String) async throws -> [NamedSource] {
        try await severalAtOnce(names) { name in
            try await self.object(named: folder + "/" + name, atMost: mostMemberBytes).flatMap { NamedSource($0.array) }
        }.compactMap(\.self)
    }

    private func severalAtOnce<Value: Sendable>(
        _ names: [String], _ body: @escaping @Sendable (String) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: Value.self) { group in
            var values: [Value] = []
            for (index, name) in names.enumerated() {
                if index >= sourcesAtOnce, let value = try await group.next() { values.append(value) }
                group.addTask { try await body(name) }
            }
            while let value = try await group.next() { values.append(value) }
            return values
        }
    }
}
