import Recipes
import Testing

@testable import Dialects

@Suite struct AcceptedFormatsTests {
    @Test(
        arguments: [
            (nil, [:]),
            ("", [:]),
            ("*/*", [:]),
            ("image/*;q=0.8, */*", [:]),
            ("image/webp", [.webp: 1_000]),
            ("IMAGE/WEBP ; Q=0.25", [.webp: 250]),
            ("image/avif,image/webp,image/png;q=0.9,*/*;q=0.8", [.avif: 1_000, .webp: 1_000, .png: 900]),
            ("image/webp;q=0", [:]),
            ("image/webp;q=0.000, image/gif;q=0.001", [.gif: 1]),
            ("image/webp;q=1.001, image/png;q=1.000", [.png: 1_000]),
            ("image/webp;q=2, image/png;q=-1, image/gif;q=.5, image/avif;q=0.1234", [:]),
            ("image/webp;q=0., image/png;q=1.", [.png: 1_000]),
            ("image/webp;q=0.1, image/webp;q=0.7, image/webp;q=0.3", [.webp: 700]),
            ("image/webp;level=\"1,2;q=0.1\";q=0.5", [.webp: 500]),
            ("text/html, image/x-tga, nonsense, image/", [:]),
            ("image/jpeg, image/heic", [.jpeg: 1_000, .heic: 1_000]),
        ] as [(String?, [ImageFormat: Int])])
    func `only formats named with a weight count`(accept: String?, qualities: [ImageFormat: Int]) {
        #expect(AcceptedFormats.qualities(accept) == qualities)
    }
}
