import Testing

@testable import ThumbnailAPI

@Suite struct RequestIDsTests {
    @Test func `names are short, plain and distinct`() {
        let ids = RequestIDs()
        let names = (0..<10_000).map { _ in ids.next() }
        #expect(Set(names).count == names.count)
        #expect(
            names.allSatisfy { $0.utf8.count == 13 && $0.allSatisfy { $0.isASCII && ($0.isNumber || $0.isLowercase) } })
    }
}
