import Crypto
package import Memory

/// A folder or a bucket: bytes under names, each replaced as a whole.
package protocol ObjectPlace: Sendable {
    /// Makes the place ready; called before it is used for the first time, and again while it fails.
    func prepare() async throws

    /// The bytes under a name; nil if there are none.
    ///
    /// - Throws: Any error if the place does not say, or has more bytes than `maximumBytes`.
    func object(named name: String, atMost maximumBytes: Int) async throws -> SharedBytes?

    /// The last parts of the names that begin with `folder` and a slash, the first `most` of them.
    ///
    /// - Throws: Any error if the place does not say.
    func names(in folder: String, atMost most: Int) async throws -> [String]

    /// Puts bytes under a name, in place of those that are there.
    ///
    /// - Parameters:
    ///   - bytes: All of them; no reader ever finds a part.
    ///   - name: Letters, digits, hyphens, underscores and slashes.
    ///   - isLasting: Whether they must be there after a crash of the machine, if this returns.
    func keep(_ bytes: SharedBytes, named name: String, isLasting: Bool) async throws
}

/// A failure of a place that knows whether there was no room.
package protocol ObjectPlaceFailure: Error {
    /// Whether a write failed because the place is full.
    var isForLackOfRoom: Bool { get }
}

/// The names of objects; the number changes with the layout of values.
enum ObjectNames {
    private static let prefix = "alula-1/"

    /// The generation of everything.
    static let everything = prefix + "g/everything"

    /// A value.
    static func value(_ key: SharedKey) -> String { prefix + "v/" + fanned(Base64URL.encode(key.digest)) }

    /// The generation of a source or a tag, by its label.
    static func generation(_ label: [UInt8]) -> String {
        prefix + "g/" + fanned(String(decoding: label, as: UTF8.self))
    }

    /// The folder of the sources that were asked for under a tag; each is an object with its name.
    static func members(of tag: SharedTag) -> String {
        prefix + "t/" + fanned(String(decoding: tag.label, as: UTF8.self))
    }

    /// A source that was asked for under a tag.
    static func member(_ source: SharedSource, of tag: SharedTag) -> String {
        members(of: tag) + "/" + String(decoding: source.label, as: UTF8.self)
    }

    /// A hash in one of 4,096 folders.
    private static func fanned(_ hash: String) -> String { hash.prefix(2) + "/" + hash.dropFirst(2) }
}

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
