package import DiskCaching
import Downloading
import Imaging
import Memory
package import Text

/// The disk below the memory caches: sources, what is known of them, and results.
///
/// Nothing made from images that were given and not fetched comes here.
///
/// A source is kept as two entries, its bytes and its record, because a confirmation changes the record alone. Bytes
/// are used only beside a record of their own version.
///
/// A result of several sources is found under the image. For each additional source a small entry, the voucher, stands
/// beside it under that source's name: it is removed with that source, and the result is used only as long as all its
/// vouchers are there.
package struct PipelineDisk: Sendable {
    /// Changes with the layout of the entries' heads, and if the same plan makes other results.
    package static let contentVersion = 10

    let store: DiskStore
    /// The release and libraries that make results: others may encode the same plan to other bytes.
    private let engine: String
    /// The rules by which sources were allowed when they were fetched: under other rules they are fetched and judged
    /// again.
    private let policy: String
    /// Digests of the named origins' settings, by name: what was fetched from another origin under the same name is
    /// another source.
    private let originDigests: [ExactText: String]

    /// The disk cache in `store`.
    ///
    /// - Parameters:
    ///   - store: Where everything is kept.
    ///   - engine: Names the release and the libraries that results are made with.
    ///   - policy: Names the rules by which sources are allowed.
    ///   - originDigests: Texts that change with the settings of the named origins, by name.
    package init(store: DiskStore, engine: String, policy: String, originDigests: [ExactText: String] = [:]) {
        self.store = store
        self.policy = policy
        self.originDigests = originDigests
        self.engine = engine
    }

    /// Keeps what is known of a source.
    func keep(_ record: SourceRecord) {
        guard !record.identity.isGiven else { return }
        store.store(
            DiskEntry(head: record.written, body: SharedBytes([UInt8]())), for: key(.record, record.identity))
    }

    /// Keeps the bytes of a source.
    func keep(_ bytes: SharedBytes, of record: SourceRecord) {
        guard !record.identity.isGiven else { return }
        store.store(
            DiskEntry(head: record.validator.written, body: bytes), for: key(.source, record.identity))
    }

    func keep(_ result: RenderedImage, for key: ResultKey) {
        guard !key.source.isGiven else { return }
        let entry = result.entry
        store.store(entry, for: self.key(key))
        // After the result, so that a voucher never stands beside an older one.
        for voucher in vouchers(of: key) {
            store.store(DiskEntry(head: entry.head, body: SharedBytes([UInt8]())), for: voucher)
        }
    }

    /// The record of a source.
    func record(of identity: SourceIdentity) async -> SourceRecord? {
        guard !identity.isGiven else { return nil }
        return await store.entry(for: key(.record, identity)).flatMap { SourceRecord($0.head, of: identity) }
    }

    /// The bytes of the version that a record describes.
    func bytes(of record: SourceRecord) async -> SharedBytes? {
        guard !record.identity.isGiven, let entry = await store.entry(for: key(.source, record.identity)),
            entry.head == record.validator.written
        else { return nil }
        return entry.body
    }

    /// A result, if the disk has it and a voucher of each additional source for these very bytes.
    func result(for key: ResultKey) async -> RenderedImage? {
        guard !key.source.isGiven, let entry = await store.entry(for: self.key(key)) else { return nil }
        for voucher in vouchers(of: key) {
            guard await store.entry(for: voucher)?.head == entry.head else { return nil }
        }
        return RenderedImage(entry)
    }

    /// Notes that a source was asked for under tags.
    func note(_ tags: [ExactText], of identity: SourceIdentity) {
        store.note(tags.map(\.string), of: name(of: identity), label: identity.name)
    }

    /// The names of the sources that were served under a tag, by this instance or one before it, and whether these are
    /// all.
    func sourceNames(under tag: ExactText) async -> (names: [String], isComplete: Bool) {
        let (names, isComplete) = await store.labels(under: tag.string)
        return (names, isComplete)
    }

    /// Removes a source and all made from it, before anything else is done.
    func removeAll(from identity: SourceIdentity) {
        store.removeAll(from: name(of: identity))
    }

    /// Removes a source and all made from it; returns what was removed.
    func removedAll(from identity: SourceIdentity) async -> RemovedEntries {
        RemovedEntries(await store.removedAll(from: name(of: identity)))
    }

    /// Removes everything; returns what was removed.
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
