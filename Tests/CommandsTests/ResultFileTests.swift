import Foundation
import Glibc
import Memory
import TestSupport
import Testing

@testable import Commands

struct ResultFileTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.path + "/a.jpg" }

    private func contents(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { [UInt8]($0) } }
    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }

    @Test func `a file appears atomically, with the default permissions`() throws {
        let mask = umask(0o027)
        defer { umask(mask) }
        try ResultFile.blockingWrite(SharedBytes([1, 2, 3]), to: path, replaces: false, isDurable: true) { _ in
            #expect(names.isEmpty)
        }
        #expect(contents(path) == [1, 2, 3] && names == ["a.jpg"])
        var status = stat()
        #expect(unsafe stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
    }

    @Test func `an existing file stays, unless it may be replaced`() throws {
        folder.write("a.jpg", [9])
        #expect(throws: ResultFile.existing) {
            try ResultFile.blockingWrite(SharedBytes([1]), to: path, replaces: false)
        }
        #expect(contents(path) == [9])
        try ResultFile.blockingWrite(SharedBytes([1]), to: path, replaces: true)
        #expect(contents(path) == [1] && names == ["a.jpg"])
    }

    @Test func `a pipe in a folder of results is rejected or replaced without blocking`() throws {
        #expect(unsafe mkfifo(path, 0o600) == 0 && symlink(path, folder.path + "/b.jpg") == 0)
        for path in [path, folder.path + "/b.jpg"] {
            #expect(throws: ResultFile.existing) {
                try ResultFile.blockingWrite(SharedBytes([1]), to: path, replaces: false, writesThrough: false)
            }
            try ResultFile.blockingWrite(SharedBytes([1]), to: path, replaces: true, writesThrough: false)
            #expect(ResultFile.Stamp(of: path)?.size == 1)
        }
    }

    @Test func `a file created in the meantime is kept`() throws {
        #expect(throws: ResultFile.existing) {
            try ResultFile.blockingWrite(SharedBytes([1]), to: path, replaces: false) { _ in folder.write("a.jpg", [9])
            }
        }
        #expect(contents(path) == [9] && names == ["a.jpg"])
    }

    @Test func `no file appears if the last check fails`() {
        let failure = CommandFailure(code: "no", reason: "no")
        for replaces in [false, true] {
            #expect(throws: failure) {
                try ResultFile.blockingWrite(SharedBytes([1]), to: path, replaces: replaces) {
                    (_) throws(CommandFailure) in throw failure
                }
            }
        }
        #expect(names.isEmpty)
    }

    @Test func `the stamp belongs to the named file`() throws {
        var told: ResultFile.Stamp?
        try ResultFile.blockingWrite(SharedBytes([1, 2]), to: path, replaces: true) { told = $0 }
        #expect(told == ResultFile.Stamp(of: path) && told?.size == 2)
        folder.write("a.jpg", [1, 2, 3])
        #expect(told != ResultFile.Stamp(of: path))
        #expect(ResultFile.Stamp(of: folder.path) == nil)
    }

    @Test func `a faulty path is reported in words`() {
        #expect(throws: CommandFailure(system: ENOENT)) {
            try ResultFile.blockingWrite(SharedBytes([1]), to: folder.path + "/b/a.jpg", replaces: true)
        }
        #expect(throws: CommandFailure(system: EISDIR)) {
            try ResultFile.blockingWrite(SharedBytes([1]), to: folder.path, replaces: true)
        }
        #expect(CommandFailure(system: ENOSPC).reason == "no space left on device")
        #expect(CommandFailure(system: ENOSPC).isFatal && !CommandFailure(system: ENOENT).isFatal)
    }

    @Test func `devices receive the bytes directly`() throws {
        try ResultFile.blockingWrite(SharedBytes([1]), to: "/dev/null", replaces: false)
        #expect(throws: CommandFailure(system: ENOSPC)) {
            try ResultFile.blockingWrite(SharedBytes([1]), to: "/dev/full", replaces: false)
        }
    }

    @Test func `no control character reaches the terminal`() {
        #expect(CommandFailure(code: "x", reason: "a\u{1b}[31m\nb\u{202e}").reason == "a?[31m?b?")
    }
}
