package import DiskCaching
import Downloading
import Imaging
import Memory
package import Text

/// The disk layer below the memory caches: sources, their records, and results.
///
/// It stores nothing derived from uploaded images.
///
/// A source is stored as two entries, its bytes and its record, because a validation changes the record alone. Bytes
/// are used only with a record of the same version.
///
/// A result of several sources is stored under the image. For each additional source a small entry, the voucher, is
/// stored under that source's name: it is removed with that source, and the result is used only while all its vouchers
/// exist.
package struct PipelineDisk: Sendable {
    /// Changes with the layout of the entries' heads, and if the same plan produces different results.
    package static let contentVersion = 10

    let store: DiskStore
    /// The release and libraries that render results: others may encode the same plan to different bytes.
    private let engine: String
    /// The rules by which sources were allowed when they were fetched: under other rules they are fetched and checked
    /// again.
    private let policy: String
    /// Digests of the named origins' settings, by name: a source fetched from another origin under the same name is
    /// another source.
    private let originDigests: [ExactText: String]

    /// Creates the disk layer on `store`.
    ///
    /// - Parameters:
    ///   - store: The underlying store.
    ///   - engine: Identifies the release and the libraries that render results.
    ///   - policy: Identifies the rules by which sources are allowed.
    ///   - originDigests: Texts that change with the settings of the named origins, by name.
    package init(store: DiskStore, engine: String, policy: String, originDigests: [ExactText: String] = [:]) {
        self.store = store
        self.policy = policy
        self.originDigests = originDigests
        self.engine = engine
    }

    func keep(_ record: SourceRecord) {
        guard !record.identity.isGiven else { return }
        store.store(
            DiskEntry(head: record.written, body: SharedBytes([UInt8]())), for: key(.record, record.identity))
    }

    func keep(_ bytes: SharedBytes, of record: SourceRecord) {
        guard !record.identity.isGiven else { return }
        store.store(
            DiskEntry(head: record.validator.written, body: bytes), for: key(.source, record.identity))
    }

    func keep(_ result: RenderedImage, for key: ResultKey) {
        guard !key.source.isGiven else { return }
        let entry = result.entry
        store.store(entry, for: self.key(key))
        // After the result, so that a voucher never belongs to an older one.
        for voucher in vouchers(of: key) {
            store.store(DiskEntry(head: entry.head, body: SharedBytes([UInt8]())), for: voucher)
        }
    }

    func record(of identity: SourceIdentity) async -> SourceRecord? {
        guard !identity.isGiven else { return nil }
        return await store.entry(for: key(.record, identity)).flatMap { SourceRecord($0.head, of: identity) }
    }

    func bytes(of record: SourceRecord) async -> SharedBytes? {
        guard !record.identity.isGiven, let entry = await store.entry(for: key(.source, record.identity)),
            entry.head == record.validator.written
        else { return nil }
        return entry.body
    }

    /// Returns a result if the disk has it, with a voucher of each additional source for these very bytes.
    func result(for key: ResultKey) async -> RenderedImage? {
        guard !key.source.isGiven, let entry = await store.entry(for: self.key(key)) else { return nil }
        for voucher in vouchers(of: key) {
            guard await store.entry(for: voucher)?.head == entry.head else { return nil }
        }
        return RenderedImage(entry)
    }

    func note(_ tags: [ExactText], of identity: SourceIdentity) {
        store.note(tags.map(\.string), of: name(of: identity), label: identity.name)
    }

    /// Returns the names of the sources served under a tag, by this instance or an earlier one, and whether the list is
    /// complete.
    func sourceNames(under tag: ExactText) async -> (names: [String], isComplete: Bool) {
        let (names, isComplete) = await store.labels(under: tag.string)
        return (names, isComplete)
    }

    /// Removes a source and everything derived from it, before any other work.
    func removeAll(from identity: SourceIdentity) {
        store.removeAll(from: name(of: identity))
    }

    /// Removes a source and everything derived from it; returns what was removed.
    func removedAll(from identity: SourceIdentity) async -> RemovedEntries {
        RemovedEntries(await store.removedAll(from: name(of: identity)))
    }

    func removedEverything() async -> RemovedEntries {
        RemovedEntries(await store.removedEverything())
    }

    private func key(_ key: ResultKey) -> DiskKey {
        DiskKey(.result, name: name(of: key), source: name(of: key.source))
    }

    private func vouchers(of key: ResultKey) -> [DiskKey] {
        guard !key.additional.isEmpty else { return [] }
        let name = name(of: key)
        return key.additional.enumerated().map { index, version in
            var writer = RecordWriter()
            writer.write("voucher")
            writer.write(index)
            return DiskKey(.result, name: name + writer.bytes, source: self.name(of: version.source))
        }
    }

    private func name(of key: ResultKey) -> [UInt8] {
        key.name(by: engine) { name(of: $0) }
    }

    private func key(_ share: DiskShare, _ identity: SourceIdentity) -> DiskKey {
        DiskKey(share, name: name(of: identity), source: name(of: identity))
    }

    private func name(of identity: SourceIdentity) -> [UInt8] {
        var writer = RecordWriter()
        writer.write(policy)
        return writer.bytes + identity.name(in: originDigests)
    }
}
