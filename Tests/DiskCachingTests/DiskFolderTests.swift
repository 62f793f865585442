import Foundation
import Glibc
import Testing

@testable import DiskCaching

/// The store rejects folders in which other users could replace its files.
@Suite(.timeLimit(.minutes(1)))
struct DiskFolderTests {
    @Test func `missing folders are created, for this user alone`() async throws {
        let fixture = try StoreFixture()
        let place = DiskFolder(path: fixture.folder + "/a/b//c/")
        try place.prepare()
        for name in ["", "/a", "/a/b", "/a/b/c"] { #expect(try mode(of: fixture.folder + name) == 0o700) }
        #expect(try mode(of: place.file) == 0o600)
        try place.prepare()
    }

    @Test func `a path in the working folder is fine`() throws {
        let name = "alula-disk-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: name) }
        try DiskFolder(path: name).prepare()
        #expect(try mode(of: name) == 0o700)
    }

    @Test func `a file at the folder's path is an error`() throws {
        let fixture = try StoreFixture()
        try fixture.write([1])
        #expect(throws: DiskStoreError.folder(systemError: ENOTDIR)) { try DiskFolder(path: fixture.file).prepare() }
        #expect(throws: DiskStoreError.folder(systemError: ENOTDIR)) {
            try DiskFolder(path: fixture.file + "/a/b").prepare()
        }
    }

    @Test(arguments: ["", "/", "//"])
    func `links are never followed`(end: String) throws {
        let fixture = try StoreFixture()
        let other = try StoreFixture()
        try FileManager.default.createDirectory(atPath: other.folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: fixture.folder, withDestinationPath: other.folder)
        #expect(throws: DiskStoreError.folderIsLink) { try DiskFolder(path: fixture.folder + end).prepare() }
        #expect(other.files == [])
        // Links above the folder are allowed.
        try DiskFolder(path: fixture.folder + "/in").prepare()
        #expect(other.files == ["in"])
    }

    @Test func `a world-writable folder is rejected, a folder within it is not`() throws {
        let fixture = try StoreFixture()
        try FileManager.default.createDirectory(atPath: fixture.folder, withIntermediateDirectories: true)
        for mode in [0o777, 0o1777, 0o702] as [mode_t] {
            #expect(unsafe chmod(fixture.folder, mode) == 0)
            #expect(throws: DiskStoreError.worldWritableFolder) { try fixture.store() }
        }
        #expect(fixture.files == [])
        try DiskFolder(path: fixture.folder + "/in").prepare()
        #expect(unsafe chmod(fixture.folder, 0o775) == 0)
        try DiskFolder(path: fixture.folder).prepare()
    }

    @Test(.enabled(if: geteuid() == 0, "only the administrator can give a folder away"))
    func `another user's folder is not used`() throws {
        let fixture = try StoreFixture()
        try FileManager.default.createDirectory(atPath: fixture.folder, withIntermediateDirectories: true)
        #expect(unsafe chown(fixture.folder, 65_534, 65_534) == 0)
        #expect(throws: DiskStoreError.foreignFolder(owner: 65_534, user: 0)) { try fixture.store() }
        #expect(fixture.files == [])
    }

    @Test(arguments: ["", "-journal", "-wal", "-shm"])
    func `only a plain file with a single link in the folder is opened`(suffix: String) throws {
        let fixture = try StoreFixture()
        let other = try StoreFixture()
        try other.write(Array("precious".utf8))
        let name = "alula-cache.sqlite\(suffix)"
        try FileManager.default.createDirectory(atPath: fixture.folder, withIntermediateDirectories: true)
        let place = fixture.folder + "/" + name
        let makers: [() throws -> Void] = [
            { try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: other.file) },
            { try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: other.folder + "/new") },
            { try FileManager.default.linkItem(atPath: other.file, toPath: place) },
            { _ = unsafe mkfifo(place, 0o600) },
        ]
        for make in makers {
            try make()
            #expect(throws: DiskStoreError.notPlainFile(name: name)) { try fixture.store() }
            unsafe unlink(place)
        }
        #expect(other.files == ["alula-cache.sqlite"])
        #expect(try other.read() == Array("precious".utf8))
    }

    @Test func `errors describe the problem and its remedy`() {
        #expect(DiskStoreError.folder(systemError: EACCES).description.contains("Permission denied"))
        #expect(DiskStoreError.foreignFolder(owner: 7, user: 8).description.contains("change its owner to user 8"))
        #expect(DiskStoreError.worldWritableFolder.description.contains("chmod o-w"))
        #expect(DiskStoreError.notPlainFile(name: "a-wal").description.hasPrefix("a-wal in it"))
    }

    private func mode(of path: String) throws -> mode_t {
        var status = stat()
        try #require(unsafe stat(path, &status) == 0)
        return status.st_mode & 0o7777
    }
}
