import Glibc
import Memory
import TestSupport
import Testing
import ThumbnailAPI

@testable import Commands
@testable import Settings

struct BatchRecordTests {
    private let folder = TemporaryFolder()

    private func record(_ options: String = "1.0") throws -> BatchRecord {
        try BatchRecord(in: folder.path, options: options)
    }

    private func rendition(_ options: (name: String, value: String)...) throws -> Rendition {
        try #require(
            try Rendition.all(of: [], options: options, format: nil, dialect: Settings().api.nativeDialect).first)
    }

    private func add(_ work: BatchRecord.Key, _ name: String, to record: BatchRecord) throws {
        folder.write(name, [1, 2, 3])
        let stamp = try #require(ResultFile.Stamp(of: "\(folder.path)/\(name)"))
        try record.blockingAdd(work, name: name, stamp: stamp)
    }

    @Test func `a recorded result is known to the next run, once, while its file is unchanged`() throws {
        let (source, rendition) = (CommandSource.remote("https://example.com/a.jpg"), try rendition())
        let first = try record()
        let work = first.key(source, rendition: rendition)
        #expect(first.takeFinished(work) == nil)
        try add(work, "a\tb.jpg", to: first)
        try add(work, "a-2.jpg", to: first)
        try add(work, "a-2.jpg", to: first)
        let next = try record()
        #expect(["a\tb.jpg", "a-2.jpg", nil].allSatisfy { next.takeFinished(work) == $0 })
        folder.write("a\tb.jpg", [1, 2, 3, 4])
        #expect(try record().takeFinished(work) == "a-2.jpg")
    }

    @Test func `other options, another source and a changed file are other work`() throws {
        folder.write("cat.jpg", [1])
        let file = CommandSource.file(folder.path + "/cat.jpg")
        let record = try record()
        let plain = try rendition()
        let work = record.key(file, rendition: plain)
        #expect(record.key(file, rendition: plain) == work)
        #expect(try self.record("{name}").key(file, rendition: plain) != work)
        #expect(record.key(file, rendition: try rendition(("w", "4"))) != work)
        #expect(record.key(.remote(file.text), rendition: plain) != work)
        folder.write("cat.jpg", [1, 2])
        #expect(record.key(file, rendition: plain) != work)
    }

    @Test func `a record is a regular file, neither a link nor a pipe`() throws {
        folder.write("precious", [1, 2])
        let path = "\(folder.path)/\(BatchRecord.name)"
        for make in [{ unsafe symlink("precious", path) }, { unsafe mkfifo(path, 0o600) }] {
            #expect(make() == 0)
            #expect(throws: CommandFailure.self) { try record() }
            #expect(unsafe unlink(path) == 0)
        }
        #expect(ResultFile.Stamp(of: "\(folder.path)/precious")?.size == 2)
        _ = try record()
    }

    @Test func `the last line of a name counts`() throws {
        let (record, rendition) = (try record(), try rendition())
        let (one, other) = (
            record.key(.remote("a://1"), rendition: rendition), record.key(.remote("a://2"), rendition: rendition)
        )
        try add(one, "a.jpg", to: record)
        try add(other, "a.jpg", to: record)
        let next = try self.record()
        #expect(next.takeFinished(one) == nil && next.takeFinished(other) == "a.jpg")
    }

    @Test func `truncated or foreign lines are skipped, and the next ones are complete`() throws {
        let work = try record().key(.remote("a://1"), rendition: try rendition())
        folder.write(BatchRecord.name, Array("nonsense\n1\t2\n\(work.digest)\t3\t180".utf8))
        #expect(try record().takeFinished(work) == nil)
        folder.write(BatchRecord.name, Array("\(work.digest)\t3\t180".utf8))
        try add(work, "a.jpg", to: try record())
        #expect(try record().takeFinished(work) == "a.jpg")
    }
}
