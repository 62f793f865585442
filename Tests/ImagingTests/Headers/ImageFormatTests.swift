import Imaging
import Memory
import Recipes
import TestSupport
import Testing

struct ImageFormatTests {
    @Test func `no two formats share a media type or an extension`() {
        #expect(Set(ImageFormat.allCases.map(\.mediaType)).count == ImageFormat.allCases.count)
        #expect(Set(ImageFormat.allCases.map(\.fileExtension)).count == ImageFormat.allCases.count)
    }

    @Test(arguments: ImageFormat.allCases)
    func `a format is found by its media type`(format: ImageFormat) {
        #expect(ImageFormat(mediaType: format.mediaType) == format)
        #expect(ImageFormat(mediaType: format.mediaType + "x") == nil)
    }

    @Test(arguments: ImageFormat.allCases)
    func `a source's response is in an encodable format`(format: ImageFormat) {
        for hasAlpha in [false, true] {
            let answer = format.outputFormat(hasAlpha: hasAlpha)
            #expect(answer.isWritten && (answer == format) == format.isWritten)
            #expect(answer.supportsAlpha || !(hasAlpha && format.supportsAlpha))
        }
    }

    @Test(arguments: ImageFormat.written)
    func `an encoded file is recognized as its format`(format: ImageFormat) throws {
        let file = ImageFixture.file(SampleImage.plain(PixelSize(width: 17, height: 9), [1, 2, 3]), as: format)
        #expect(try ImageHeader.inspect(SharedBytes(file)).format == format)
    }
}
