import Crypto
package import Memory

package protocol ObjectContainer: Sendable {
    func prepare() async throws

    /// Returns the object; nil if it does not exist. Throws if it exceeds `maximumBytes`, or the storage fails.
    func object(named name: String, atMost maximumBytes: Int) async throws -> SharedBytes?

    /// Returns the last components of the names that begin with `folder` and a slash.
    func names(in folder: String, atMost maximum: Int) async throws -> [String]

    /// Stores an object, replacing an existing one.
    ///
    /// - Parameters:
    ///   - bytes: The whole object; readers never see a part of it.
    ///   - name: The name in letters, digits, hyphens, underscores and slashes.
    ///   - isDurable: Whether the object must survive a crash of the machine once this returns.
    func store(_ bytes: SharedBytes, named name: String, isDurable: Bool) async throws
}

package protocol ObjectContainerFailure: Error {
    var isFull: Bool { get }
}

/// Names of objects; their version changes with the layout of values.
enum ObjectNames {
    private static let prefix = "alula-1/"

    static let everything = prefix + "g/everything"

    static func value(_ key: SharedKey) -> String { prefix + "v/" + shardedPath(Base64URL.encode(key.digest)) }

    static func generation(_ label: [UInt8]) -> String {
        prefix + "g/" + shardedPath(String(decoding: label, as: UTF8.self))
    }

    /// Returns the folder of the sources requested under a tag; each is an object named after the source.
    static func members(of tag: SharedTag) -> String {
        prefix + "t/" + shardedPath(String(decoding: tag.label, as: UTF8.self))
    }

    static func member(_ source: SharedSource, of tag: SharedTag) -> String {
        members(of: tag) + "/" + String(decoding: source.label, as: UTF8.self)
    }

    /// Distributes names over folders.
    private static func shardedPath(_ hash: String) -> String { hash.prefix(2) + "/" + hash.dropFirst(2) }
}

private let sourcesAtOnce = 16
/// Exceeds the size of a source and its name.
private let maximumMemberBytes = 8 << 10

extension ObjectContainer {
    func replaceGenerations(of sources: [SharedSource]) async throws {
        _ = try await severalAtOnce(sources.map { ObjectNames.generation($0.label) }) { name in
            try await self.store(SharedBytes(Generation().bytes), named: name, isDurable: true)
        }
    }

    /// Returns the members, and whether all of them could be read and are signed.
    func members(
        _ names: [String], in folder: String, signedBy signer: SharedSigner
    ) async throws -> (sources: [NamedSource], hasAll: Bool) {
        let tagged = try await severalAtOnce(names) { name -> NamedSource? in
            // Other programs may have written anything here, including objects that are too long.
            guard let bytes = try? await self.object(named: folder + "/" + name, atMost: maximumMemberBytes) else {
                return nil
            }
            return signer.payload(signed: bytes.array).flatMap { NamedSource($0) }
        }
        let sources = tagged.compactMap(\.self)
        return (sources, sources.count == tagged.count)
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
