struct PurgeLogReading {
    /// Whether the position saved by an earlier process no longer exists in the log.
    var hasLostPosition = false
    var isRenewed = false
    private var entries: Set<[UInt8]> = []
    private(set) var ids: Set<Generation> = []
    private var hasForeignEntries = false
    private var hasKnownPurges = false

    /// The number of signed purges in a full log; fewer than its capacity, because repairs write some of them twice.
    private static let provenLength = PurgeMemory.capacity / 2

    init(hasLostPosition: Bool, isRenewed: Bool) {
        self.hasLostPosition = hasLostPosition
        self.isRenewed = isRenewed
    }

    mutating func add(_ entry: PurgeLogEntry, isKnown: Bool) {
        entries.insert(entry.id)
        if entry.isForeign { hasForeignEntries = true }
        if let notice = entry.notice, ids.insert(notice.id).inserted, isKnown { hasKnownPurges = true }
    }

    /// Whether purges may have been dropped from the log before they were read.
    ///
    /// True if a full log has no known purge, or if an earlier process read another log. With a key, unsigned entries
    /// do not count: anyone with access to the server could fill the log with them to have everything dropped. Purges
    /// that are written again do not count either.
    func isGap(_ signer: SharedSigner) -> Bool {
        guard !hasKnownPurges || hasLostPosition else { return false }
        guard signer.hasKey else { return hasLostPosition || entries.count >= PurgeMemory.capacity }
        return ids.count >= Self.provenLength || hasLostPosition && !hasForeignEntries
    }
}

struct PurgeLogEntry {
    let id: [UInt8]
    let notice: PurgeNotice?
    /// Whether the entry is neither a purge nor an empty entry, which identifies a log.
    let isForeign: Bool
    /// Whether reading the entry repeatedly is expensive.
    let isOversized: Bool

    init?(_ reply: Reply, signer: SharedSigner) {
        guard let pair = reply.elements, pair.count == 2, let id = pair[0].shortBytes, !id.isEmpty, id.count <= 64,
            let fields = pair[1].elements
        else { return nil }
        self.id = id
        isOversized = fields.count > 16 || fields.contains(where: \.isLong)
        let payload = fields.count >= 2 ? fields[1].shortBytes : nil
        notice = payload.flatMap { PurgeNotice($0, signer: signer) }
        isForeign = notice == nil && payload?.isEmpty != true
    }
}
