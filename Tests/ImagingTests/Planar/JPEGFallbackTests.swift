import CJPEGReference
import Coordination
import Memory
import Testing

@testable import Imaging
@testable import Recipes

/// Reasons why the fast decoder falls back to libjpeg, with libjpeg's result.
@Suite(.timeLimit(.minutes(2)))
struct JPEGFallbackTests {
    private static let levels = [2, 4, 8]

    @Test(arguments: levels)
    func `arithmetic coding falls back`(level: Int) throws {
        try expectFallback(.process, of: ReferenceJPEG((160, 136), oddity: \.is_arithmetic), level)
    }

    @Test(arguments: levels)
    func `quantization steps of 16 bits fall back`(level: Int) throws {
        try expectFallback(.tables, of: ReferenceJPEG((160, 136), quality: 1, oddity: \.has_wide_steps), level)
    }

    @Test(arguments: levels)
    func `a multi-scan baseline file falls back to libjpeg`(level: Int) throws {
        try expectFallback(.scans, of: ReferenceJPEG((160, 136), oddity: \.has_separate_scans), level)
    }

    @Test(arguments: levels)
    func `a progressive file with missing details falls back to libjpeg`(level: Int) throws {
        let file = ReferenceJPEG((160, 136), isProgressive: true).file.array
        let last = try #require(markers(0xDA, of: file).last)
        try expectFallback(.scans, of: ReferenceJPEG(file[..<last] + [0xFF, 0xD9], isProgressive: true), level)
    }

    @Test(arguments: levels)
    func `a bit sent twice falls back to libjpeg`(level: Int) throws {
        let file = ReferenceJPEG((160, 136), isProgressive: true).file.array
        let scans = markers(0xDA, of: file)
        let end = try #require(markers(0xD9, of: file).last)
        // The last bit of the DC coefficients; its scan has no tables.
        let scan = try #require(scans.first { file[Int($0 + 11)] == 0 && file[Int($0 + 13)] == 0x10 })
        let next = try #require((scans + markers(0xC4, of: file)).filter { $0 > scan }.min())
        let twice = file[..<end] + file[scan..<next] + file[end...]
        try expectFallback(.scans, of: ReferenceJPEG(Array(twice), isProgressive: true), level)
    }

    @Test(arguments: levels)
    func `a code in no table falls back to libjpeg`(level: Int) throws {
        for isProgressive in [false, true] {
            var file = ReferenceJPEG((160, 136), isProgressive: isProgressive).file.array
            let start = try #require(markers(0xDA, of: file).first) + 40
            for index in 0..<8 { file[start + index] = index % 2 == 0 ? 0xFF : 0 }
            try expectFallback(.code, of: ReferenceJPEG(file, isProgressive: isProgressive), level)
        }
    }

    @Test(arguments: levels)
    func `an unexpected restart marker falls back to libjpeg`(level: Int) throws {
        for isProgressive in [false, true] {
            var file = ReferenceJPEG((160, 136), restartInterval: 5, isProgressive: isProgressive).file.array
            file[try #require(markers(0xD0, of: file).first) + 1] = 0xD3
            try expectFallback(.restart, of: ReferenceJPEG(file, isProgressive: isProgressive), level)
        }
    }

    @Test(arguments: levels)
    func `data that end before a restart marker, or after it, fall back to libjpeg`(level: Int) throws {
        let file = ReferenceJPEG((160, 136), restartInterval: 5).file.array
        let marker = try #require(markers(0xD0, of: file).first)
        try expectFallback(.end, of: ReferenceJPEG(file[..<(marker - 20)] + file[marker...]), level)
        try expectFallback(.end, of: ReferenceJPEG(file[..<marker] + [0x12, 0x34] + file[marker...]), level)
    }

    @Test(arguments: levels)
    func `a file truncated in its data falls back to libjpeg`(level: Int) throws {
        let file = ReferenceJPEG((160, 136)).file.array
        for count in [file.count / 2, file.count * 3 / 4, file.count - 40] {
            let cut = ReferenceJPEG(Array(file[..<count]))
            try expectFallback(.end, of: cut, level)
            #expect(try cut.decode(level: level).isIncomplete)
        }
    }

    @Test(arguments: levels)
    func `libjpeg decodes a file without its end marker if it is progressive`(level: Int) throws {
        let baseline = ReferenceJPEG((160, 136)).file.array
        let image = try ReferenceJPEG(baseline.dropLast(2)).decode(level: level)
        #expect(image.jpegDecoding == .fast && !image.isIncomplete)
        let progressive = ReferenceJPEG((160, 136), isProgressive: true).file.array
        let expected: JPEGDecoding.Reason = .markers
        try expectFallback(expected, of: ReferenceJPEG(progressive.dropLast(2), isProgressive: true), level)
    }

    @Test(arguments: levels)
    func `bytes between two segments of a progressive file fall back to libjpeg`(level: Int) throws {
        var file = ReferenceJPEG((160, 136), isProgressive: true).file.array
        file.insert(0x55, at: markers(0xDA, of: file)[1])
        try expectFallback(.markers, of: ReferenceJPEG(file, isProgressive: true), level)
    }

    @Test func `a file that libjpeg rejects is rejected`() throws {
        // Sixteen blocks of luma in an MCU.
        var file = ReferenceJPEG((160, 136)).file.array
        file[try #require(markers(0xC0, of: file).first) + 11] = 0x44
        for level in Self.levels {
            #expect(throws: ImagingError.self) { try ReferenceJPEG(file).decode(level: level) }
        }
    }

    /// Offsets of a marker in a file.
    private func markers(_ marker: UInt8, of file: [UInt8]) -> [Int] {
        file.indices.dropLast().filter { file[$0] == 0xFF && file[$0 + 1] == marker }
    }

    /// Requires that the fast decoder returns this reason, and that the samples are libjpeg's.
    private func expectFallback(
        _ reason: JPEGDecoding.Reason, of image: ReferenceJPEG, _ level: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let decoded = try image.decode(level: level)
        #expect(decoded.jpegDecoding == .fallback(reason), sourceLocation: sourceLocation)
        let expected = try image.decode(level: level, by: .libjpeg)
        #expect(
            decoded.samples == expected.samples && decoded.isIncomplete == expected.isIncomplete,
            sourceLocation: sourceLocation)
    }
}
