import Testing

@testable import Recipes

struct SourceRightsTests {
    private func text(_ bytes: [UInt8]) -> String? {
        var rights = SourceRights()
        rights.add(.credit, text: bytes)
        return rights[.credit]
    }

    @Test func `control characters are dropped, and invalid UTF-8 is replaced`() {
        #expect(text(Array("a\n\0b\u{7F}\u{85}\u{202E}c  ".utf8)) == "abc")
        #expect(text([0x61, 0xFF, 0x62]) == "a\u{FFFD}b")
        #expect(text([0, 10]) == nil)
    }

    @Test func `texts are cut between characters, and their sum is limited`() {
        let long = [UInt8](repeating: 0x61, count: SourceRights.longestText - 1) + Array("é!".utf8)
        #expect(text(long)?.utf8.count == SourceRights.longestText - 1)
        var rights = SourceRights()
        for field in SourceRights.Field.allCases { rights.add(field, text: long) }
        rights.limit()
        let kept = SourceRights.Field.allCases.filter { rights[$0] != nil }
        #expect(kept == [.digitalSourceType, .aiSystem, .aiPrompt, .creator])
    }

    @Test func `the first text of a field counts`() {
        var rights = SourceRights()
        rights.add(.creator, text: Array("\n".utf8))
        rights.add(.creator, text: Array("A".utf8))
        rights.add(.creator, text: Array("B".utf8))
        #expect(rights[.creator] == "A")
    }

    @Test(
        arguments: [
            ("none", []), ("ai", .ai), ("rights", .rights), ("ai,rights", [.rights, .ai]),
        ] as [(String, KeptMetadata)])
    func `words select the metadata to keep`(text: String, kept: KeptMetadata) {
        #expect(KeptMetadata(text) == kept)
        #expect(KeptMetadata(kept.text) == kept)
    }

    @Test(arguments: ["", "all", "ai,", "ai,ai", "none,ai", "AI"]) func `other words are invalid`(text: String) {
        #expect(KeptMetadata(text) == nil)
    }
}
