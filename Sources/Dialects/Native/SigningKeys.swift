package import Text

/// Keys for native targets: the setting `signingKeys`, and tenants' keys with IDs.
package struct SigningKeys: Sendable {
    package struct Key: Hashable, Sendable {
        package let id: ExactText
        package let bytes: [UInt8]

        package init(id: ExactText, bytes: [UInt8]) {
            self.id = id
            self.bytes = bytes
        }
    }

    /// The keys of the service, several for rotation; logs number them from 1.
    package var unnamed: [[UInt8]] = []
    /// Tenants' keys; nil in a service without tenants, where the parameter `key` is unknown.
    package var named: [Key]?

    package init(_ unnamed: [[UInt8]] = [], named: [Key]? = nil) {
        self.unnamed = unnamed
        self.named = named
    }

    package var isEmpty: Bool { unnamed.isEmpty && named?.isEmpty != false }

    /// Returns whether the target is authentic; false even without keys if the target names a key that did not sign it.
    func areSatisfied(by target: String) -> Bool {
        isEmpty && Self.keyID(in: target, of: self) == nil || signerID(of: target) != nil
    }
    func signerID(of target: String) -> String? {
        if let id = Self.keyID(in: target, of: self) {
            return URLSigner.verify(target: target, keys: keys(for: target)) && hasKey(id) ? id.string : nil
        }
        guard let index = URLSigner.signer(of: target, among: all) else { return nil }
        return index < unnamed.count ? String(index + 1) : named?[index - unnamed.count].id.string
    }

    /// Returns the keys that may sign the target.
    ///
    /// Returns a random key for an unknown ID, so that verification takes as long as for a known one.
    package func keys(for target: String) -> [[UInt8]] {
        guard let id = Self.keyID(in: target, of: self) else { return all }
        return [named?.first { $0.id == id }?.bytes ?? Self.noKey]
    }

    /// Returns the key ID in the target, if it is well-formed.
    package func namedID(in target: String) -> String? {
        Self.keyID(in: target, of: self).flatMap { Vocabulary.isName($0.string) ? $0.string : nil }
    }

    /// Returns the target without the parameter `key`, which dialects do not know.
    package func unnamed(_ target: String) -> String {
        guard named != nil, let range = Self.keyRange(in: target) else { return target }
        var rest = target[range.upperBound...]
        // The next parameter becomes the first.
        if target.utf8[range.lowerBound] == UInt8(ascii: "?"), !rest.isEmpty { rest = "?" + rest.dropFirst() }
        return String(target[..<range.lowerBound] + rest)
    }

    private var all: [[UInt8]] { unnamed + (named ?? []).map(\.bytes) }

    private func hasKey(_ id: ExactText) -> Bool { named?.contains { $0.id == id } == true }

    private static func keyID(in target: String, of keys: SigningKeys) -> ExactText? {
        keys.named == nil ? nil : keyID(in: target)
    }

    /// Random, so that no one can sign with it.
    private static let noKey = (0..<32).map { _ in UInt8.random(in: 0...255) }
}

extension SigningKeys {
    private static let mark = Array("key=".utf8)

    /// Returns the value of `key` at the end of the target, before `sig` if present.
    package static func keyID(in target: String) -> ExactText? {
        keyRange(in: target).map { ExactText(Substring(target[$0].utf8.dropFirst(mark.count + 1))) }
    }

    /// Returns the range of the parameter and its separator.
    private static func keyRange(in target: String) -> Range<String.Index>? {
        let bytes = target.utf8
        var end = bytes.endIndex
        func parameter() -> Range<String.Index>? {
            bytes[..<end].lastIndex { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "?") }.map { $0..<end }
        }
        guard var last = parameter() else { return nil }
        if bytes[last].dropFirst().starts(with: "sig=".utf8) {
            end = last.lowerBound
            guard let before = parameter() else { return nil }
            last = before
        }
        return bytes[last].dropFirst().starts(with: mark) ? last : nil
    }
}

/// A dialect whose targets end with a signature by ``SigningKeys``.
package protocol NativelySignedDialect: Dialect {
    var keys: SigningKeys { get }
}

extension NativelySignedDialect {
    package var unsignedName: String { NativeDialect.unsignedName }
    package var signatures: DialectSignatures { keys.isEmpty ? .none : .required }

    package func isAuthentic(_ target: RequestedTarget) -> Bool { keys.areSatisfied(by: target.target.string) }

    package func keyID(of target: RequestedTarget) -> String? { keys.signerID(of: target.target.string) }

    package func namedKeyID(of target: RequestedTarget) -> String? { keys.namedID(in: target.target.string) }
}
