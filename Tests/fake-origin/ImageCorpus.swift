import Glibc
import Recipes
import TestSupport

/// Several hundred small valid images of every format and kind; tests damage them.
enum ImageCorpus {
    private static let sizes = [(17, 16), (33, 48), (64, 64), (96, 40), (130, 131), (200, 150)].map {
        PixelSize(width: $0, height: $1)
    }

    /// Writes each image to a file in an existing folder.
    static func write(to folder: String) {
        for (name, bytes) in all {
            guard let file = unsafe fopen("\(folder)/\(name)", "wb"),
                unsafe fwrite(bytes, 1, bytes.count, file) == bytes.count, unsafe fclose(file) == 0
            else { fatalError("\(folder) takes no files") }
        }
    }

    private static var all: [(name: String, bytes: [UInt8])] {
        let fixtures = (ImageFixture.readable + [.avif]).map { ("fixture-\($0.rawValue)", $0.array) }
        let withMetadata = ("metadata.avif", AVIFWriter.withPrivateMetadata(ImageFixture.avif.array))
        return fixtures + [withMetadata] + withGainMaps + withProfiles + withWideColors + unwritten + encoded
            + sizes.flatMap { scanned($0) + interlaced($0) } + animated + [("layers.avif", layers)]
    }

    /// A rotated overlay of a grid and an image with alpha that extends past an edge.
    private static var layers: [UInt8] {
        let size = PixelSize(width: 48, height: 40)
        let tiles = [1, 2].map { HEIFWriter.Item.coded(.plain(size, [90, 160, 60]), id: $0) }
        let grid = HEIFWriter.Item.grid(of: [1, 2], columns: 2, size: PixelSize(width: 90, height: 40), id: 3)
        let above = HEIFWriter.Item.coded(.plain(size, [200, 60, 60]), id: 4)
        var alpha = HEIFWriter.Item.coded(.plain(size, [128, 128, 128]), id: 5)
        alpha.properties.append(HEIFBox.alpha)
        alpha.references = [("auxl", [4])]
        var overlay = HEIFWriter.Item.overlay(
            of: [(item: 3, left: 4, top: 8), (item: 4, left: -9, top: 20)], size: PixelSize(width: 100, height: 60),
            id: 6, isOpaque: false)
        overlay.properties.append(HEIFBox.rotation(1))
        return HEIFWriter(tiles + [grid, above, alpha, overlay], primary: 6).file
    }

    /// Files with gain maps in all forms.
    private static var withGainMaps: [(name: String, bytes: [UInt8])] {
        sizes.dropFirst(2).flatMap { size in
            UltraHDRWriter.Form.allCases.flatMap { form in
                UltraHDRWriter.Place.allCases.map { place in
                    var writer = UltraHDRWriter.scene(size, scale: 2, isColor: place == .container)
                    (writer.forms, writer.places) = ([form], [place])
                    return ("gain-map-\(size)-\(form)-\(place).jpeg", writer.file)
                }
            }
        }
    }

    /// Files with profiles, with code points, and with gain maps of cameras and of AVIF.
    private static var withProfiles: [(name: String, bytes: [UInt8])] {
        let (photo, map) = (
            SampleImage.photo(ImageFixture.size), SampleImage.plain(PixelSize(width: 32, height: 24), [99])
        )
        let notes = UltraHDRWriter.appleNotes(500, 200)
        let profiles = [
            (
                "wide",
                ICCWriter.profile(primaries: [
                    [0.51512, 0.2412, -0.00105], [0.29198, 0.69225, 0.04189], [0.1571, 0.06657, 0.78407],
                ])
            ),
            ("table", ICCWriter.tables([("A2B0", ICCWriter.standardPrimaries)])), ("grey", ICCWriter.gray(gamma: 563)),
            ("inks", ICCWriter.inks),
        ]
        let plain = ImageFixture.file(photo, as: .jpeg, quality: 80)
        let webp = ImageFixture.file(photo, as: .webp, quality: 80)
        let size = ImageFixture.size
        let profiled = profiles.flatMap { name, profile in
            var writer = PNGWriter(width: 40, height: 30, colorType: .rgb)
            writer.chunks = [("iCCP", Array("wide\0\0".utf8) + Zlib.stored(profile))]
            var item = HEIFWriter.Item.coded(photo)
            item.properties.append(HEIFBox.profile(profile))
            return [
                ("profile-\(name).jpeg", JPEGWriter.profiled(plain, profile)),
                ("profile-\(name).png", writer.file { x, y in [x * 6, y * 8, 99] }),
                (
                    "profile-\(name).webp",
                    WebPWriter.profiled(webp, width: size.width, height: size.height, hasAlpha: false, profile)
                ),
                ("profile-\(name).avif", HEIFWriter([item], primary: 1).file),
            ]
        }
        let coded = [UInt8(16), 18].map { transfer in
            var writer = PNGWriter(width: 40, height: 30, colorType: .rgb)
            writer.chunks = [("cICP", [9, transfer, 0, 1])]
            return ("light-\(transfer).png", writer.file { x, y in [x * 6, y * 8, 99] })
        }
        var toned = HEIFWriter.Item(
            id: 4, type: "tmap",
            data: [0, 0, 0, 0, 0, 0x40]
                + [(0, 1), (5, 2), (-1, 4), (5, 2), (1, 1), (1, 64), (1, 64)].flatMap {
                    $0.0.bigEndian32 + $0.1.bigEndian32
                })
        toned.references = [("dimg", [1, 2])]
        let items = [HEIFWriter.Item.coded(photo), .coded(.plain(PixelSize(width: 32, height: 24), [9, 9, 9]), id: 2)]
        var auxiliary = items
        auxiliary[1].properties.append(HEIFBox.auxiliary("urn:com:apple:photo:2020:aux:hdrgainmap"))
        auxiliary[1].references = [("auxl", [1])]
        auxiliary.append(HEIFWriter.Item(id: 3, type: "Exif", data: 6.bigEndian32 + notes))
        return profiled + coded + [
            ("gain-map-toned.avif", HEIFWriter(items + [toned], primary: 1).file),
            ("gain-map-auxiliary.avif", HEIFWriter(auxiliary, primary: 1).file),
            ("gain-map-camera.jpeg", UltraHDRWriter.apple(photo, map: map, headroom: "4").file),
            ("gain-map-notes.jpeg", UltraHDRWriter.apple(photo, map: map, notes: notes).file),
        ]
    }

    /// JPEG files with a Display P3 profile.
    private static var withWideColors: [(name: String, bytes: [UInt8])] {
        let primaries = [[0.5151, 0.2412, -0.0011], [0.2920, 0.6922, 0.0419], [0.1571, 0.0666, 0.7841]]
        return sizes.map { size in
            let file = ImageFixture.file(.photo(size), as: .jpeg, quality: 80)
            return ("wide-\(size).jpeg", JPEGWriter.profiled(file, ICCWriter.profile(primaries: primaries)))
        }
    }

    /// Files of formats that the service does not write.
    private static var unwritten: [(name: String, bytes: [UInt8])] {
        UnwrittenImages.all.map { ($0.name, $0.file) } + hostileDrawings
    }

    /// Drawings with text, filters and references, which damage can make more dangerous.
    private static var hostileDrawings: [(name: String, bytes: [UInt8])] {
        HostileDrawing.all.filter { $0.file.count < 1 << 16 }.map { ("hostile-\($0.name).svg", $0.file) }
    }

    private static var encoded: [(name: String, bytes: [UInt8])] {
        let qualities: [ImageFormat: [Int]] = [.jpeg: [10, 50, 75, 90, 100], .webp: [10, 50, 80, 100]]
        let formats = ImageFormat.written.map { format in
            (format, qualities[format] ?? (format.hasQuality ? [20, 60] : [100]))
        }
        return sizes.flatMap { size in
            let images = [
                ("photo", SampleImage.photo(size)), ("veil", .photoWithAlpha(size)), ("ramp", .grayRamp(size)),
                ("board", .checkerboard(size, side: 3)),
            ]
            return formats.flatMap { format, qualities in
                images.flatMap { name, image in
                    qualities.map { quality in
                        (
                            "\(name)-\(size)-\(quality).\(format)",
                            ImageFixture.file(image, as: format, quality: quality)
                        )
                    }
                }
            }
        }
    }

    /// Progressive JPEG files with every chroma subsampling, in gray, YCbCr and YCCK.
    private static func scanned(_ size: PixelSize) -> [(name: String, bytes: [UInt8])] {
        let samplings: [[(Int, Int)]] = [[], [(2, 1)], [(2, 2)], [(1, 2)], [(4, 1)]]
        return [1, 3, 4].flatMap { components in
            samplings.enumerated().map { index, sampling in
                var writer = JPEGWriter(width: size.width, height: size.height, components: components)
                writer.isProgressive = true
                writer.sampling = sampling
                writer.scans = 2 + index
                if components == 4 { writer.adobeTransform = 2 }
                let file = writer.file { column, row in
                    (0..<components).map { UInt8(truncatingIfNeeded: 40 &* column &+ 60 &* row &+ 30 &* $0) }
                }
                return ("scans-\(size)-\(components)-\(index).jpeg", file)
            }
        }
    }

    /// Interlaced PNG files of every color type and bit depth.
    private static func interlaced(_ size: PixelSize) -> [(name: String, bytes: [UInt8])] {
        let kinds: [(PNGWriter.ColorType, Int)] = [
            (.gray, 1), (.gray, 2), (.gray, 4), (.gray, 16), (.rgb, 8), (.rgb, 16), (.rgba, 8), (.rgba, 16),
            (.grayAlpha, 8), (.grayAlpha, 16), (.palette, 2), (.palette, 8),
        ]
        return kinds.map { type, depth in
            var writer = PNGWriter(width: size.width, height: size.height, colorType: type)
            writer.bitDepth = depth
            writer.isInterlaced = true
            if type == .palette { writer.palette = (0..<3 << depth).map { UInt8($0 % 256) } }
            let bands = [PNGWriter.ColorType.rgb: 3, .rgba: 4, .grayAlpha: 2][type] ?? 1
            let file = writer.file { x, y in [x, y, x ^ y, x &+ y].prefix(bands).map { $0 % (1 << depth) } }
            return ("passes-\(size)-\(type)-\(depth).png", file)
        }
    }

    private static var animated: [(name: String, bytes: [UInt8])] {
        ImageFormat.written.filter(\.supportsAnimation).flatMap { format in
            [2, 3, 5, 9, 30].map { frames in
                ("frames-\(frames).\(format)", ImageFixture.animation(frames: frames, as: format))
            }
        }
    }
}
