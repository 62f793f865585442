import Crypto

/// A source as an instance keeps it where instances share, with the name under which operators know it.
package struct NamedSource: Hashable, Sendable {
    /// The source, by the rules of the instance that names it.
    package let source: SharedSource
    /// The name, which each instance reads by its own rules.
    package let name: String

    private static let longestName = 4_096

    /// A source of this name; nil if the name is too long for a source.
    package init?(_ source: SharedSource, name: String) {
        guard name.utf8.count <= Self.longestName, !name.utf8.contains(0) else { return nil }
        self.source = source
        self.name = name
    }

    /// A source as it was written; nil if the bytes are none.
    init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count >= SharedSource.labelLength,
            let source = SharedSource(label: Array(bytes.prefix(SharedSource.labelLength))),
            let name = String(validating: bytes.dropFirst(SharedSource.labelLength), as: UTF8.self)
        else { return nil }
        self.init(source, name: name)
    }

    /// The source as bytes, none of them zero.
    var written: [UInt8] { source.label + Array(name.utf8) }

    /// Bytes of memory that it takes with its tag while it waits to be written, roughly.
    var queuedLength: Int { 512 + name.utf8.count }
}

/// A purge that all instances are told of.
package struct PurgeNotice: Sendable, Equatable {
    /// The sources that are to be removed.
    package enum Subject: Sendable, Equatable {
        case sources([NamedSource])
        /// Those that an instance knows to have been asked for under this tag.
        case tag(SharedTag)
    }

    /// Random: tells this purge from all others.
    let id: Generation
    /// The values that are purged.
    package let subject: Subject

    /// Most bytes of sources in one notice, unless a single one has more: instances and the log keep thousands of
    /// notices.
    private static let longestList = 4 << 10

    /// A new purge.
    init(_ subject: Subject) {
        id = Generation()
        self.subject = subject
    }

    /// New purges of so many sources that each notice is short.
    static func notices(of sources: [NamedSource]) -> [PurgeNotice] {
        var notices: [PurgeNotice] = []
        var (part, bytes) = ([NamedSource](), 0)
        for source in sources {
            let length = source.written.count + 1
            if bytes + length > longestList, !part.isEmpty {
                notices.append(PurgeNotice(.sources(part)))
                (part, bytes) = ([], 0)
            }
            part.append(source)
            bytes += length
        }
        return part.isEmpty ? notices : notices + [PurgeNotice(.sources(part))]
    }

    /// A purge as it was written; nil if the bytes are none, or no instance with this seal wrote them.
    init?(_ bytes: [UInt8], _ seal: SharedSeal = SharedSeal()) {
        guard let bytes = seal.words(sealed: bytes), bytes.count <= Self.longestList * 2,
            let id = Generation(Array(bytes.prefix(Generation.length)))
        else { return nil }
        let parts = bytes.dropFirst(Generation.length).split(separator: 0, omittingEmptySubsequences: false)
        if parts.count == 2, parts[0].isEmpty {
            guard let tag = SharedTag(String(decoding: parts[1], as: UTF8.self)) else { return nil }
            subject = .tag(tag)
        } else {
            let sources = parts.compactMap { NamedSource($0) }
            guard !sources.isEmpty, sources.count == parts.count else { return nil }
            subject = .sources(sources)
        }
        self.id = id
    }

    /// The purge as bytes.
    func written(_ seal: SharedSeal = SharedSeal()) -> [UInt8] {
        let words =
            switch subject {
            case .sources(let sources): id.text + sources.map(\.written).joined(separator: [0])
            case .tag(let tag): id.text + [0] + tag.text.utf8
            }
        return words + seal.text(of: words)
    }
}

/// The purges that this instance knows of, so that each is done once, and a log that was lost can be written again: a
/// plain value.
struct PurgeMemory {
    private var notices: [Generation: PurgeNotice] = [:]
    private var order: [Generation] = []

    /// Purges that the log keeps, and each instance as well.
    static let capacity = 4_096

    /// Notes a purge; false if it was known.
    mutating func note(_ notice: PurgeNotice) -> Bool {
        guard notices.updateValue(notice, forKey: notice.id) == nil else { return false }
        order.append(notice.id)
        // Half at a time, so that the array is seldom moved.
        if order.count > Self.capacity * 3 / 2 {
            for id in order.prefix(order.count - Self.capacity) { notices[id] = nil }
            order.removeFirst(order.count - Self.capacity)
        }
        return true
    }

    /// The latest purges that are not among `ids`, in order.
    func missing(in ids: Set<Generation>) -> [PurgeNotice] {
        order.suffix(Self.capacity).filter { !ids.contains($0) }.compactMap { notices[$0] }
    }
}

/// An instance's reactions to purges of others; called on the thread `shared-cache`.
package struct PurgeAudience: Sendable {
    /// Sources were purged; called once for each purge.
    let onPurge: @Sendable (PurgeNotice.Subject) -> Void
    /// Purges were missed that nobody knows any more.
    let onGap: @Sendable () -> Void
    /// The log of purges has been read up to here.
    let onPosition: @Sendable (_ position: [UInt8]) -> Void

    /// An audience of these three functions.
    package init(
        onPurge: @escaping @Sendable (PurgeNotice.Subject) -> Void, onGap: @escaping @Sendable () -> Void,
        onPosition: @escaping @Sendable (_ position: [UInt8]) -> Void = { _ in }
    ) {
        self.onPurge = onPurge
        self.onGap = onGap
        self.onPosition = onPosition
    }
}
