import Memory
import Testing

struct PartialFileTests {
    private let page = PartialFile.page

    @Test func `known bytes are at their offsets, and reading others names their pages`() throws {
        var file = try #require(PartialFile(count: 10 * page + 5))
        file.add(SharedBytes([UInt8](repeating: 7, count: page)), at: 0)
        file.add(SharedBytes([1, 2, 3, 4, 5]), at: 10 * page)
        #expect(file.knownCount == page + 5)
        func bytes(_ offsets: [Int]) throws -> PartialFile.Reading<[UInt8]> {
            let reading = file.read { span in
                offsets.map { unsafe span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
            }
            return try #require(reading)
        }
        let known = try bytes([0, page - 1, 10 * page, 10 * page + 4])
        #expect(known.value == [7, 7, 1, 5] && known.missing.isEmpty)
        let unknown = try bytes([3 * page + 9, 4 * page, 8 * page])
        #expect(unknown.value == [0, 0, 0])
        #expect(unknown.missing == [3 * page..<5 * page, 8 * page..<9 * page])
    }

    @Test func `the rest of a page that a part does not fill is unknown`() throws {
        var file = try #require(PartialFile(count: 4 * page))
        file.add(SharedBytes([UInt8](repeating: 7, count: page + 100)), at: 0)
        file.add(SharedBytes([UInt8](repeating: 8, count: page)), at: 2 * page - 1)
        let reading = file.read { unsafe $0.unsafeLoad(fromByteOffset: page + 1, as: UInt8.self) }
        #expect(reading?.value == 0 && reading?.missing == [page..<2 * page])
        file.add(SharedBytes([UInt8](repeating: 9, count: 2 * page)), at: page)
        let second = file.read { unsafe $0.unsafeLoad(fromByteOffset: 2 * page, as: UInt8.self) }
        #expect(second?.value == 9 && second?.missing == [])
    }

    @Test func `bytes beyond the end are ignored, and huge or empty files are not read in parts`() throws {
        var file = try #require(PartialFile(count: page / 2))
        file.add(SharedBytes([UInt8](repeating: 7, count: 3 * page)), at: 0)
        #expect(file.read { $0.byteCount }?.value == page / 2)
        #expect(PartialFile(count: 0) == nil && PartialFile(count: -1) == nil)
        #expect(PartialFile(count: PartialFile.maximumCount + 1) == nil && PartialFile(count: .max) == nil)
    }

    @Test func `bytes of several parts are one, if no page of them is unknown`() throws {
        var file = try #require(PartialFile(count: 8 * page + 100))
        file.add(SharedBytes([UInt8](repeating: 7, count: 2 * page)), at: 0)
        file.add(SharedBytes([UInt8](repeating: 8, count: 2 * page + 100)), at: 6 * page)
        let range = page + 10..<7 * page
        #expect(file.unknown(in: range) == 2 * page..<6 * page && file.bytes(in: range) == nil)
        #expect(file.unknown(in: 7 * page..<8 * page + 100) == nil && file.bytes(in: 0..<9 * page) == nil)
        file.add(SharedBytes([UInt8](repeating: 9, count: 4 * page)), at: 2 * page)
        let bytes = try #require(file.bytes(in: range)?.array)
        #expect(bytes.count == range.count && bytes[0] == 7 && bytes[page] == 9 && bytes[range.count - 1] == 8)
    }

    @Test func `reading all of a file reports all unknown pages`() throws {
        let file = try #require(PartialFile(count: 300 * page))
        let reading = file.read { span in
            (0..<300).reduce(0) { $0 + Int(unsafe span.unsafeLoad(fromByteOffset: $1 * page, as: UInt8.self)) }
        }
        #expect(reading?.value == 0 && reading?.missing == [0..<300 * page])
    }
}
