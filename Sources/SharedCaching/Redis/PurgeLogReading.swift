struct PurgeLogReading {
    /// Whether the position saved by an earlier process no longer exists in the log.
    var hasLostPosition = false
    var isRenewed = false
    private var entries: Set<[UInt8]> = []
    private(set) var ids: Set<Generation> = []
    private var hasForeignEntries = false
    private var hasKnownPurges = false

    /// The number of sealed purges in a full log; fewer than its capacity, because repairs write some of them twice.
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
    /// True if a full log has no known purge, or if an earlier process read another log. With a key, unsealed entries
    /// do not count: anyone with access to the server could fill the log with them to have everything dropped. Purges
    /// that are written again do not count either.
    func isGap(_ signature: SharedSignature) -> Bool {
        guard !hasKnownPurges || hasLostPosition else { return false }
        guard signature.hasKey else { return hasLostPosition || entries.count >= PurgeMemory.capacity }
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

    init?(_ reply: Reply, signature: SharedSignature) {
        guard let parts = reply.elements, parts.count == 2, let id = parts[0].text, !id.isEmpty, id.count <= 64,
            let fields = parts[1].elements
        else { return nil }
        self.id = id
        isOversized = fields.count > 16 || fields.contains(where: \.isLong)
        let payload = fields.count >= 2 ? fields[1].text : nil
        notice = payload.flatMap { PurgeNotice($0, signature: signature) }
        isForeign = notice == nil && payload?.isEmpty != true
    }
}
