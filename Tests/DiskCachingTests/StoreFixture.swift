import Coordination
import Foundation
import Memory
import Telemetry
import TestSupport

@testable import DiskCaching

/// A temporary folder for stores, removed at `deinit`.
final class StoreFixture: Sendable {
    let folder: String
    let time = ManualTimekeeper()
    let log = LinesSink()

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "alula-disk-\(UUID().uuidString)").path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    var file: String { DiskFolder(path: folder).file }

    /// A store in the folder.
    func store(
        capacity: Int = 1 << 20, contentVersion: Int = 1, _ configure: (inout DiskStoreConfiguration) -> Void = { _ in }
    ) throws(DiskStoreError) -> DiskStore {
        var configuration = DiskStoreConfiguration(
            folder: folder, capacities: [.source: capacity, .result: capacity, .record: capacity],
            contentVersion: contentVersion)
        // A long limit, because a loaded machine is not a slow disk.
        configuration.readTimeLimit = .seconds(40)
        configure(&configuration)
        return try DiskStore(configuration, logger: Logger(level: .debug, sink: log), timekeeper: time)
    }

    /// Opens a store, runs `body` with it and closes it.
    func withStore<Value>(
        capacity: Int = 1 << 20, contentVersion: Int = 1,
        _ configure: (inout DiskStoreConfiguration) -> Void = { _ in },
        _ body: (DiskStore) async throws -> Value
    ) async throws -> Value {
        let store = try store(capacity: capacity, contentVersion: contentVersion, configure)
        do {
            let value = try await body(store)
            await store.shutDown(timeLimit: .seconds(40))
            return value
        } catch {
            await store.shutDown(timeLimit: .seconds(40))
            throw error
        }
    }

    /// Names of the files in the folder.
    var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }

    /// The bytes of the store's file.
    func read() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: file))) }

    /// Replaces the store's file.
    func write(_ bytes: [UInt8]) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: file))
    }
}

final class LinesSink: LogSink {
    private let kept = Locked<[LogLine]>([])

    var messages: [String] { kept.withLock { $0.map(\.message) } }

    func write(_ line: LogLine) { kept.withLock { $0.append(line) } }
}

extension DiskKey {
    /// The key of a source with this number.
    static func source(_ number: Int) -> DiskKey { DiskKey(.source, name: .text(number), source: .text(number)) }

    /// The key of a result of a source with this number.
    static func result(_ name: Int, of source: Int) -> DiskKey {
        DiskKey(.result, name: .text(name), source: .text(source))
    }
}

extension [UInt8] {
    static func text(_ number: Int) -> [UInt8] { Array("\(number)".utf8) }
}

extension CacheValue {
    /// An entry with `count` bytes that depend on the number.
    static func sample(_ number: Int, count: Int = 3_000) -> CacheValue {
        var state = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 &+ 1
        let body = (0..<count).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        return CacheValue(head: .text(number), body: SharedBytes(body))
    }

    /// Whether this is exactly the entry of the number.
    func isSample(_ number: Int) -> Bool {
        head == .text(number) && body.array == CacheValue.sample(number, count: body.count).body.array
    }
}
