import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging

@Suite(.timeLimit(.minutes(1)))
struct VipsImageTests {
    @Test func `a watched image stops being computed when its token says so`() throws {
        try ImageLibrary.start()
        let source = SharedBytes([1, 2, 3])
        let token = WorkToken()
        try unsafe source.withUnsafeBytes { bytes throws in
            let image = try unsafe VipsImage.pixels(bytes, width: 1, height: 1, bands: 3)
                .embedded(left: 0, top: 0, in: PixelSize(width: 3_000, height: 3_000), background: [1, 2, 3])
            image.watch(token)
            #expect(try image.pixels().count == 27_000_000)
            token.cancel()
            #expect(throws: VipsError.self) { try image.pixels() }
            #expect(throws: VipsError.self) {
                try image.saved(as: .jpeg, options: VipsSaveOptions(quality: 80, effort: 0))
            }
        }
        extendLifetime(token)
    }

    @Test func `what fails says why`() throws {
        try ImageLibrary.start()
        #expect {
            try unsafe SharedBytes([0xFF, 0xD8, 0xFF]).withUnsafeBytes { bytes throws in
                _ = try unsafe VipsImage.file(bytes, format: .jpeg, options: VipsLoadOptions())
            }
        } throws: {
            ($0 as? VipsError)?.text.isEmpty == false
        }
    }
}
