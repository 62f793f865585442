enum DisabledLoaderSamples {
    static let all: [(type: String, file: [UInt8])] = [
        ("MAT", text("MATLAB 5.0 MAT-file", paddedTo: 124) + [0, 1, 0x49, 0x4D] + zeros(128)),
        (
            "SVG",
            text(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"8\" height=\"8\"><rect width=\"8\" height=\"8\"/></svg>"
            )
        ),
        ("PDF", text(pdf)),
        ("MVG", text("push graphic-context\nviewbox 0 0 8 8\nfill red\nrectangle 0,0 8,8\npop graphic-context\n")),
        ("ICO", [0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 24, 0, 48, 0, 0, 0, 22, 0, 0, 0] + bitmap),
        ("FITS", fits),
        ("HDR", text("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n") + [128, 128, 128, 129]),
        ("PPM", text("P6\n1 1\n255\n") + [1, 2, 3]),
        ("VIPS", vips),
        ("EXR", exr),
        ("CSV", text("1,2,3\n4,5,6\n7,8,9\n")),
    ]

    private static func text(_ text: String, paddedTo length: Int = 0) -> [UInt8] {
        let bytes = Array(text.utf8)
        return bytes + [UInt8](repeating: 0x20, count: max(0, length - bytes.count))
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private static let pdf = """
        %PDF-1.1
        1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
        2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
        3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 8 8]>>endobj
        trailer<</Root 1 0 R>>
        %%EOF

        """

    private static let bitmap: [UInt8] =
        [40, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 24, 0] + zeros(24) + [1, 2, 3, 0] + zeros(4)

    /// One gray pixel, little-endian.
    private static let vips: [UInt8] =
        [0xB6, 0xA6, 0xF2, 0x08, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 8] + zeros(15)
        + [0, 0, 0x80, 0x3F, 0, 0, 0x80, 0x3F] + zeros(24) + [128]

    /// One pixel of three half floats.
    private static let exr: [UInt8] = {
        func attribute(_ name: String, type: String, value: [UInt8]) -> [UInt8] {
            text(name) + [0] + text(type) + [0, UInt8(value.count), 0, 0, 0] + value
        }
        let half: [UInt8] = [0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]
        let channels = ["B", "G", "R"].flatMap { text($0) + half }
        let one: [UInt8] = [0, 0, 0x80, 0x3F]
        let attributes = [
            attribute("channels", type: "chlist", value: channels + [0]),
            attribute("compression", type: "compression", value: [0]),
            attribute("dataWindow", type: "box2i", value: zeros(16)),
            attribute("displayWindow", type: "box2i", value: zeros(16)),
            attribute("lineOrder", type: "lineOrder", value: [0]),
            attribute("pixelAspectRatio", type: "float", value: one),
            attribute("screenWindowCenter", type: "v2f", value: zeros(8)),
            attribute("screenWindowWidth", type: "float", value: one), [0],
        ]
        let header: [UInt8] = [0x76, 0x2F, 0x31, 0x01, 2, 0, 0, 0] + attributes.flatMap { $0 }
        let start = header.count + 8
        let offset: [UInt8] = [UInt8(start & 255), UInt8(start >> 8), 0, 0, 0, 0, 0, 0]
        return header + offset + zeros(4) + [6, 0, 0, 0] + [0, 0x3C, 0, 0x3C, 0, 0x3C]
    }()

    /// One gray pixel, in blocks of 2880 bytes.
    private static let fits: [UInt8] = {
        let cards = [
            "SIMPLE  =                    T", "BITPIX  =                    8", "NAXIS   =                    2",
            "NAXIS1  =                    1", "NAXIS2  =                    1", "END",
        ]
        return text(cards.map { $0 + String(repeating: " ", count: 80 - $0.count) }.joined(), paddedTo: 2_880)
            + zeros(2_880)
    }()
}
