import Foundation
import Memory
import Recipes
import TestSupport
import Testing

/// A damaged JPEG is complete, incomplete or undecodable at all levels and in both lanes alike.
@Suite(.timeLimit(.minutes(2)))
struct JPEGDamageTests {
    /// An image with details, one in scans without some restart markers, one in CMYK, one with a scan per component.
    private static let files: [String: [UInt8]] = [
        "photo": ImageFixture.photo(width: 160, height: 136).array, "scans": scans, "CMYK": cmyk,
        "plain": ImageFixture.jpeg.array,
    ]

    private static var scans: [UInt8] {
        var writer = JPEGWriter(width: 160, height: 136, components: 3)
        (writer.isProgressive, writer.scans) = (true, 4)
        writer.sampling = [(2, 2), (1, 1), (1, 1)]
        return writer.file { [UInt8($0 * 5), UInt8(100 + $1), UInt8(200 - $0)] }
    }

    private static var cmyk: [UInt8] {
        var writer = JPEGWriter(width: 160, height: 136, components: 4)
        writer.adobeTransform = 0
        return writer.file { [UInt8($0 * 5), UInt8(100 + $1), UInt8(200 - $0), 255] }
    }

    /// Noise of 40×40 pixels, gray, quality 30, written by libjpeg-turbo 2.1.5 with `jpeg_simple_progression`.
    ///
    /// The last scan refines earlier ones.
    private static let noise =
        "/9j/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/wgAL"
        + "CAAoACgBAREA/8QAFwABAQEBAAAAAAAAAAAAAAAAAgEAA//aAAgBAQAAAAHUKnUIuaXadAod/8QAHRABAQACAgMBAAAAAAAAAAAA"
        + "AQARIQIxEDJBEv/aAAgBAQABBQL5cRu2xKAD4ULTauVkxfd27X59Y5S2HD363//EAB4QAAICAgMBAQAAAAAAAAAAAAARASFBURAx"
        + "YaHx/9oACAEBAAY/Al3J2e64+FEEtSN0VWxZHO+zE3ZNLRoiWXLZdvjRSPBfpN5FGT//xAAjEAACAgIBBAIDAAAAAAAAAAABEQAh"
        + "MVFBYXGB8KHB0eHx/9oACAEBAAE/ITQ4DyfC+ICPAUchQhMuxJfUNlA7piXaAbTr2EC0BJqxvvEECQlVSwsBaQ6xYIkwBn9TmZaW"
        + "v5ESzP8AM4ZMAviDjIfIcVABRERYQkdQu2n0mD6clxmiAK4qEHRAQRDUKZ0bD9U5A7rtEA3HQ16YgBgHZJdnA5w9Zl2H5V7cWKCe"
        + "Bn//2gAIAQEAAAAQX26J/wD/xAAeEAEBAQEAAwEBAQEAAAAAAAABESExAEFRYXGBkf/aAAgBAQABPxACQhSEiap/of8AO8fKlxgz"
        + "iKGYfv8AO98QxCkaxEYv/T57nimEMQbELywyr7h2575SBJwSHx1HBvPQOAwQKBcQywk/DkfKS6ZAl6/jpbzW+KUJqG9V0aelOf3x"
        + "AvWuoPeh+nPRf4ldJoa8tDlcPafcGhGQIReG95tDD98GxLICKgNzVb/y6HgPIDREOMOFPTfhPLpwVLDuwwiO5JpDwCoFQSDTdHyG"
        + "v742JFqILrZeV53+UsCFCDTAnLvzOP6BICSaCNYhwk+afPA/iXwoSTKoV7rj3zEnpmKCdxMZ3+X75Y6hTDDC06Ib7h4A3JhCEUR7"
        + "NXORPR42RYkgCFjULBb3P8pqGGKAP1THjmT0+NoRlCzhdn5vs/fP/9k="

    @Test func `a last scan that refines others is checked with them`() throws {
        let file = try #require(Data(base64Encoded: Self.noise))
        #expect(try judgements(Array(file)) == [.whole] && judgements(file.dropLast(2)) == [.whole])
        for count in stride(from: 3, to: 150, by: 6) {
            #expect(try judgements(file.dropLast(count)) == [.incomplete], "without \(count) bytes")
        }
    }

    /// Damages only bytes after the frame header; earlier ones are checked by the header walk, which has no levels.
    private func judgements(_ file: some Collection<UInt8>) throws -> Set<Judgement> {
        do {
            return try Judgement.all(of: SharedBytes(file))
        } catch is ImagingError {
            return []
        }
    }

    @Test(arguments: files.keys.sorted())
    func `a truncated file has the same verdict at every size`(name: String) throws {
        let file = try #require(Self.files[name])
        var seen: Set<Judgement> = []
        for length in stride(from: file.count, to: 100, by: -max(1, file.count / 30)) {
            let found = try judgements(Array(file.prefix(length)))
            #expect(found.count <= 1, "\(length) of \(file.count) bytes: \(found)")
            seen.formUnion(found)
        }
        #expect(seen.isSuperset(of: [.whole, .incomplete]))
    }

    @Test(arguments: files.keys.sorted())
    func `a file with a wrong byte has the same verdict at every size`(name: String) throws {
        let file = try #require(Self.files[name])
        var random = SplitMix(state: 18)
        for _ in 0..<50 {
            var damaged = file
            let place = Int(random.next() % UInt64(file.count - 20)) + 20
            damaged[place] = random.next() % 3 == 0 ? 0xFF : UInt8(truncatingIfNeeded: random.next())
            // Insert an end-of-image marker.
            if random.next() % 4 == 0 { damaged[place...] = [0xFF, 0xD9] + damaged[place...] }
            let found = try judgements(damaged)
            #expect(found.count <= 1, "byte \(place) of \(file.count): \(found)")
        }
    }

    @Test func `the header of an invisible scan is checked too`() throws {
        var file = Self.scans
        let headers = file.indices.dropLast(2).filter { file[$0] == 0xFF && file[$0 + 1] == 0xDA }
        // A last frequency that does not exist.
        file[try #require(headers.last) + 8] = 64
        #expect(try judgements(file) == [.undecodable])
    }

    @Test func `an image with a truncated last scan lacks pixels at every size`() throws {
        let file = Self.scans
        let headers = file.indices.dropLast(2).filter { file[$0] == 0xFF && file[$0 + 1] == 0xDA }
        let last = try #require(headers.last)
        #expect(try judgements(Array(file[..<(last + 12)])) == [.incomplete])
        // Between two scans, and in the header of one.
        #expect(try judgements(Array(file[..<last])) == [.incomplete])
        #expect(try judgements(Array(file[..<(last + 5)])) == [.incomplete])
        #expect(try judgements(Array(file.dropLast(2))) == [.whole])
    }
}

/// Pseudorandom numbers with a fixed seed.
private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
