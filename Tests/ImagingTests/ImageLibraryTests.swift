import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

@Suite(.timeLimit(.minutes(1)))
struct ImageLibraryTests {
    @Test func `starting again returns the same result`() throws {
        try ImageLibrary.start()
        try ImageLibrary.start()
        #expect(ImageLibrary.version.hasPrefix("8."))
    }

    @Test func `the text of versions has each library that makes pixels or files`() {
        let parts = ImageLibrary.versions.split(separator: ", ").map { $0.split(separator: " ") }
        #expect(
            parts.map(\.first) == [
                "libvips", "libjpeg-turbo", "libwebp", "libjxl", "dav1d", "libde265", "libaom", "libdeflate",
                "zlib", "libtiff", "lcms", "libimagequant", "librsvg", "cairo",
            ])
        for part in parts {
            #expect(
                part.count == 2 && part[1].contains(where: \.isNumber) && part[1] != "0" && part[1] != "0.0.0",
                "\(part)")
        }
    }

    @Test func `no file of a foreign format opens, even if libvips detects the format`() throws {
        try ImageLibrary.start()
        let types = ["MAT", "SVG", "PDF", "MVG", "ICO", "FITS", "HDR", "PPM", "VIPS", "EXR", "CSV"]
        #expect(DisabledLoaderSamples.all.map(\.type) == types)
        for (type, file) in DisabledLoaderSamples.all {
            let opens = unsafe file.withUnsafeBytes { unsafe (try? VipsImage.loadingAnyFormat($0)) != nil }
            #expect(!opens, "\(type) opens")
        }
    }

    @Test func `only the five required loaders are enabled`() throws {
        try ImageLibrary.start()
        #expect(VipsLibrary.loaders == VipsLibrary.neededLoaders)
    }

    @Test func `AVIF is not opened either`() throws {
        try ImageLibrary.start()
        let bytes = ImageFixture.avif.bytes
        #expect(unsafe bytes.withUnsafeBytes { unsafe (try? VipsImage.loadingAnyFormat($0)) == nil })
    }
}
