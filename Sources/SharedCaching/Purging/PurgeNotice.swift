import Coordination
import Crypto

package struct NamedSource: Hashable, Sendable {
    /// The source under the rules of the instance that sends the notice.
    package let source: SharedSource
    /// The name of the source, which each instance parses under its own rules.
    package let name: String

    private static let maximumNameBytes = 4_096

    package init?(_ source: SharedSource, name: String) {
        guard name.utf8.count <= Self.maximumNameBytes, !name.utf8.contains(0) else { return nil }
        self.source = source
        self.name = name
    }

    init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count >= SharedSource.labelLength,
            let source = SharedSource(label: Array(bytes.prefix(SharedSource.labelLength))),
            let name = String(validating: bytes.dropFirst(SharedSource.labelLength), as: UTF8.self)
        else { return nil }
        self.init(source, name: name)
    }

    var encoded: [UInt8] { source.label + Array(name.utf8) }

    /// The size in memory while the notice waits to be written with its tag.
    var queuedLength: Int { 512 + name.utf8.count }
}

package struct PurgeNotice: Sendable, Equatable {
    package enum Subject: Sendable, Equatable {
        case sources([NamedSource])
        case tag(SharedTag)
        case everything
    }

    let id: Generation
    package let subject: Subject

    /// Limits the names in a notice, except for a single larger one, because instances and the log store thousands.
    private static let maximumListBytes = 4 << 10

    init(_ subject: Subject) {
        id = Generation()
        self.subject = subject
    }

    static func notices(of sources: [NamedSource]) -> [PurgeNotice] {
        var notices: [PurgeNotice] = []
        var batch = [NamedSource]()
        var bytes = 0
        for source in sources {
            let length = source.encoded.count + 1
            if bytes + length > maximumListBytes, !batch.isEmpty {
                notices.append(PurgeNotice(.sources(batch)))
                batch = []
                bytes = 0
            }
            batch.append(source)
            bytes += length
        }
        return batch.isEmpty ? notices : notices + [PurgeNotice(.sources(batch))]
    }

    /// Returns nil if the bytes are invalid, or not sealed by an instance with this seal.
    init?(_ bytes: [UInt8], signature: SharedSignature = SharedSignature()) {
        guard let bytes = signature.words(signed: bytes), bytes.count <= Self.maximumListBytes * 2,
            let id = Generation(Array(bytes.prefix(Generation.length)))
        else { return nil }
        let parts = bytes.dropFirst(Generation.length).split(separator: 0, omittingEmptySubsequences: false)
        if parts.count == 2, parts[0].isEmpty, parts[1].isEmpty {
            subject = .everything
        } else if parts.count == 2, parts[0].isEmpty {
            guard let tag = SharedTag(String(decoding: parts[1], as: UTF8.self)) else { return nil }
            subject = .tag(tag)
        } else {
            let sources = parts.compactMap { NamedSource($0) }
            guard !sources.isEmpty, sources.count == parts.count else { return nil }
            subject = .sources(sources)
        }
        self.id = id
    }

    func encoded(signature: SharedSignature = SharedSignature()) -> [UInt8] {
        let words =
            switch subject {
            case .sources(let sources): id.text + sources.map(\.encoded).joined(separator: [0])
            case .tag(let tag): id.text + [0] + tag.text.utf8
            case .everything: id.text + [0]
            }
        return words + signature.text(of: words)
    }
}

/// Remembers purges, so that each is performed once and a lost log can be restored; a plain value.
struct PurgeMemory {
    private var notices = BoundedMap<Generation, PurgeNotice>(maximumCount: PurgeMemory.capacity)

    /// The number of purges kept in the log and in each instance.
    static let capacity = 4_096

    mutating func add(_ notice: PurgeNotice) -> Bool {
        guard notices.peek(notice.id) == nil else { return false }
        notices.insert(notice, for: notice.id)
        return true
    }

    func missing(in ids: Set<Generation>) -> [PurgeNotice] {
        notices.entries.map(\.value).filter { !ids.contains($0.id) }
    }
}

/// Handlers that are called on the `shared-cache` thread.
package struct PurgeHandlers: Sendable {
    let onPurge: @Sendable (PurgeNotice.Subject) -> Void
    /// Called if missed purges are lost.
    let onGap: @Sendable () -> Void
    let onPosition: @Sendable (_ position: [UInt8]) -> Void

    package init(
        onPurge: @escaping @Sendable (PurgeNotice.Subject) -> Void = { _ in },
        onGap: @escaping @Sendable () -> Void = {},
        onPosition: @escaping @Sendable (_ position: [UInt8]) -> Void = { _ in }
    ) {
        self.onPurge = onPurge
        self.onGap = onGap
        self.onPosition = onPosition
    }
}
