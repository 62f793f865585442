import Memory
import TestSupport
import Testing

@testable import Commands

struct BatchRecordTests {
    private let folder = TemporaryFolder()
    private let stamp = ResultFile.Stamp(size: 3, changedAt: 1_800_000_000_000_000_001)

    private func record(_ options: String = "w=3") throws -> BatchRecord {
        try BatchRecord(in: folder.path, options: options)
    }

    @Test func `what was written down is known to the next run`() throws {
        let source = CommandSource.remote("https://example.com/a.jpg")
        let first = try record()
        #expect(!first.isFinished(first.work(source), "a.jpg", stamp))
        try first.blockingAdd(first.work(source), "a\tb.jpg", stamp)
        for record in [first, try record()] {
            let work = record.work(source)
            #expect(record.isFinished(work, "a\tb.jpg", stamp))
            #expect(record.ending(of: work) == "jpg")
            #expect(!record.isFinished(work, "b.jpg", stamp))
            #expect(!record.isFinished(work, "a\tb.jpg", ResultFile.Stamp(size: 4, changedAt: stamp.changedAt)))
        }
    }

    @Test func `other options, another source and a changed file are other work`() throws {
        folder.write("cat.jpg", [1])
        let file = CommandSource.file(folder.path + "/cat.jpg")
        let record = try record()
        let work = record.work(file)
        #expect(record.work(file) == work)
        #expect(try self.record("w=4").work(file) != work)
        #expect(record.work(.remote(file.text)) != work)
        folder.write("cat.jpg", [1, 2])
        #expect(record.work(file) != work)
    }

    @Test func `the last line of a name counts`() throws {
        let record = try record()
        let (one, other) = (record.work(.remote("a://1")), record.work(.remote("a://2")))
        try record.blockingAdd(one, "a.jpg", stamp)
        try record.blockingAdd(other, "a.jpg", stamp)
        let next = try self.record()
        #expect(!next.isFinished(one, "a.jpg", stamp) && next.isFinished(other, "a.jpg", stamp))
    }

    @Test func `lines that are cut or foreign are skipped, and the next ones are whole`() throws {
        let work = try record().work(.remote("a://1"))
        folder.write(BatchRecord.name, Array("nonsense\n1\t2\n\(work.digest)\t3\t180".utf8))
        let next = try record()
        #expect(next.ending(of: work) == nil)
        folder.write(BatchRecord.name, Array("\(work.digest)\t3\t180".utf8))
        let last = try record()
        try last.blockingAdd(work, "a.jpg", stamp)
        #expect(try record().isFinished(work, "a.jpg", stamp))
    }
}
