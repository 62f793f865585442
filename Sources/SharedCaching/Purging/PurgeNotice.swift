import Coordination
import Crypto

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

    /// Returns nil if the bytes are invalid, or not signed by an instance with this key.
    init?(_ bytes: [UInt8], signer: SharedSigner = SharedSigner()) {
        guard let bytes = signer.payload(signed: bytes), bytes.count <= Self.maximumListBytes * 2,
            let id = Generation(Array(bytes.prefix(Generation.length)))
        else { return nil }
        let fields = bytes.dropFirst(Generation.length).split(separator: 0, omittingEmptySubsequences: false)
        if fields.count == 2, fields[0].isEmpty, fields[1].isEmpty {
            subject = .everything
        } else if fields.count == 2, fields[0].isEmpty {
            guard let tag = SharedTag(String(decoding: fields[1], as: UTF8.self)) else { return nil }
            subject = .tag(tag)
        } else {
            let sources = fields.compactMap { NamedSource($0) }
            guard !sources.isEmpty, sources.count == fields.count else { return nil }
            subject = .sources(sources)
        }
        self.id = id
    }

    func encoded(signer: SharedSigner = SharedSigner()) -> [UInt8] {
        let payload =
            switch subject {
            case .sources(let sources): id.bytes + sources.map(\.encoded).joined(separator: [0])
            case .tag(let tag): id.bytes + [0] + tag.text.utf8
            case .everything: id.bytes + [0]
            }
        return payload + signer.textSignature(of: payload)
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
