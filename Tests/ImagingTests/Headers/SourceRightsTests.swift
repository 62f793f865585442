import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Author, license and marks of AI: from the source's metadata to the result's.
struct SourceRightsTests {
    private static let mark = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"

    private static let all: SourceRights = {
        var rights = SourceRights()
        for field in SourceRights.Field.allCases { rights.add(field, text: "\(field.rawValue) <Ⓐ> & Söhne \"1\"".utf8) }
        return rights
    }()

    private func packet(_ properties: String) -> [UInt8] {
        let names = [
            ("dc", "http://purl.org/dc/elements/1.1/"), ("ext", "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"),
            ("ps", "http://ns.adobe.com/photoshop/1.0/"), ("note", "http://ns.adobe.com/xmp/note/"),
        ]
        let declared = names.map { " xmlns:\($0)=\"\($1)\"" }.joined()
        return Array(
            "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF><rdf:Description\(declared)>\(properties)</rdf:Description>"
                .utf8)
    }

    private func jpeg(_ segments: [UInt8]...) throws -> SourceRights? {
        try inspect(JPEGFile(segments: segments).bytes).rights
    }

    private func iptc(_ datasets: [(Int, String)]) -> [UInt8] {
        var records: [UInt8] = []
        for (number, text) in datasets {
            records += [0x1C, 2, UInt8(number)]
            records += text.utf8.count.bigEndianBytes(2)
            records += Array(text.utf8)
        }
        var resources = Array("Photoshop 3.0\0".utf8)
        // It is preceded by a resource of another kind, whose name and length are odd.
        resources += Array("8BIM".utf8) + [4, 1, 2] + Array("ab".utf8) + [0]
        resources += 1.bigEndianBytes(4) + [7, 0]
        resources += Array("8BIM".utf8) + [4, 4, 0, 0]
        resources += records.count.bigEndianBytes(4) + records
        return JPEGSegments.segment(0xED, contents: resources)
    }

    private func exif(artist: String) -> [UInt8] {
        JPEGSegments.exif(Attribution(artist: Array(artist.utf8), copyright: [])?.exif ?? [])
    }

    @Test func `XMP takes precedence over IPTC records, and these over Exif`() throws {
        let xmp = JPEGSegments.packet(packet("<dc:creator><rdf:Seq><rdf:li>Xe</rdf:li></rdf:Seq></dc:creator>"))
        let records = iptc([(80, "Ip"), (80, "Tc"), (110, "Agency"), (116, "© Ip")])
        let all = try #require(try jpeg(exif(artist: "Ex"), xmp, records))
        #expect(all[.creator] == "Xe" && all[.credit] == "Agency" && all[.copyright] == "© Ip")
        #expect(try jpeg(exif(artist: "Ex"), records)?[.creator] == "Ip, Tc")
        #expect(try jpeg(exif(artist: "Ex"))?[.creator] == "Ex")
        #expect(try jpeg([]) == nil)
    }

    @Test func `a property may be an attribute, an element, a list or a reference`() throws {
        for properties in [
            "<ext:DigitalSourceType>m&amp;&#x41;&#66;&lt;</ext:DigitalSourceType>",
            "<ext:DigitalSourceType rdf:resource='m&amp;&#x41;&#66;&lt;'/>",
            "<ext:DigitalSourceType><rdf:Alt><rdf:li xml:lang='x-default'>m&amp;AB&lt;</rdf:li></rdf:Alt></ext:DigitalSourceType>",
        ] {
            #expect(try jpeg(JPEGSegments.packet(packet(properties)))?[.digitalSourceType] == "m&AB<")
        }
        let attribute = Array(
            "<rdf:Description xmlns:e='http://iptc.org/std/Iptc4xmpExt/2008-02-29/' e:DigitalSourceType='m'/>".utf8)
        #expect(try jpeg(JPEGSegments.packet(attribute))?[.digitalSourceType] == "m")
        let people = "<dc:creator><rdf:Seq><rdf:li>A</rdf:li><rdf:li>B</rdf:li></rdf:Seq></dc:creator>"
        #expect(try jpeg(JPEGSegments.packet(packet(people)))?[.creator] == "A, B")
        // Another namespace with the same prefix.
        let foreign = Array("<rdf:Description xmlns:dc='http://example.com/' dc:creator='A'/>".utf8)
        #expect(try jpeg(JPEGSegments.packet(foreign)) == nil)
    }

    @Test func `entities are never expanded`() throws {
        let bomb = "<!DOCTYPE x [<!ENTITY a \"0123456789\"><!ENTITY b \"&a;&a;&a;\">]>"
        let text = packet("<ps:Credit>&b;&b;</ps:Credit>")
        #expect(try jpeg(JPEGSegments.packet(Array(bomb.utf8) + text))?[.credit] == "&b;&b;")
    }

    @Test func `extended XMP is joined by its digest and offsets`() throws {
        let text = packet("<ext:DigitalSourceType>\(Self.mark)</ext:DigitalSourceType>")
        let digest = String(repeating: "A", count: 32)
        func piece(_ range: Range<Int>, _ digest: String) -> [UInt8] {
            JPEGSegments.segment(
                0xE1,
                contents: Array("http://ns.adobe.com/xmp/extension/\0\(digest)".utf8) + text.count.bigEndianBytes(4)
                    + range.lowerBound.bigEndianBytes(4) + text[range])
        }
        let main = JPEGSegments.packet(packet("<note:HasExtendedXMP>\(digest)</note:HasExtendedXMP>"))
        let (first, second) = (piece(0..<100, digest), piece(100..<text.count, digest))
        #expect(try jpeg(main, second, first)?[.digitalSourceType] == Self.mark)
        let foreign = String(repeating: "B", count: 32)
        #expect(try jpeg(main, piece(0..<text.count, foreign)) == nil)
        #expect(try jpeg(first, second) == nil)
    }

    @Test func `C2PA manifests are noticed`() throws {
        let manifest = Array("JP".utf8) + [0, 1, 0, 0, 0, 1, 0, 0, 0, 80] + Array("jumb".utf8) + [0, 0, 0, 40]
        let rights = try jpeg(JPEGSegments.segment(0xEB, contents: manifest + Array("jumdc2pa\0".utf8)))
        #expect(rights?.hasManifest == true && rights?.only([.rights, .ai]) == nil)
        #expect(try jpeg(JPEGSegments.segment(0xEB, contents: manifest + Array("jumdjson".utf8))) == nil)
        let png = ImageFixture.photo(width: 8, height: 8, format: .png)
        #expect(try ImageHeader.inspect(png.inserting(chunk: "caBX", [1, 2])).rights?.hasManifest == true)
    }

    @Test func `damaged metadata drop at most the texts`() throws {
        let file = JPEGFile(segments: [iptc([(80, "Ip"), (116, "c")]), JPEGSegments.packet(Self.all.packet)]).bytes
        for index in file.indices {
            for bits in [0x01, 0x80, 0xFF] as [UInt8] {
                var broken = file
                broken[index] ^= bits
                _ = try? inspect(broken)
            }
        }
    }

    @Test(arguments: ImageFormat.written)
    func `a result keeps marks of AI, and rights on request, with the same pixels`(format: ImageFormat) throws {
        let plain = ImageFixture.photo(width: 60, height: 40).array
        let source = SharedBytes(plain[..<2] + JPEGSegments.packet(Self.all.packet) + plain[2...])
        #expect(try ImageHeader.inspect(source).rights == Self.all)
        var options = options(30, nil)
        func kept(_ metadata: KeptMetadata?) throws -> SharedBytes {
            options.keptMetadata = metadata
            return try thumbnail(source, options, format).bytes
        }
        let none = try kept([])
        #expect(try ImageHeader.inspect(none).rights == nil)
        guard format != .gif else {
            #expect(try kept([.rights, .ai]).array == none.array)
            return
        }
        #expect(try ImageHeader.inspect(kept(nil)).rights == Self.all.only(.ai))
        for metadata in [.ai, .rights, [.ai, .rights]] as [KeptMetadata] {
            let file = try kept(metadata)
            let header = try ImageHeader.inspect(file)
            #expect(header.rights == Self.all.only(metadata))
            #expect(try ImageReading.decode(file).pixels.array == ImageReading.decode(none).pixels.array)
            let isRepeated = metadata.contains(.rights) && [.jpeg, .webp].contains(format)
            #expect((header.exif?.attribution != nil) == isRepeated)
        }
    }

    @Test(arguments: [ImageFormat.webp, .png, .avif]) func `animations keep them`(format: ImageFormat) throws {
        var options = RenderingOptions()
        options.isAnimated = true
        let file = try thumbnail(ImageFixture.gifAnimated.bytes, options, format).bytes
        let header = try ImageHeader.inspect(file)
        let marked = try #require(format.encoding?.addPacket.map { $0(file, Self.all.packet, header.size) })
        let again = try ImageHeader.inspect(marked)
        #expect(again.rights == Self.all && again.frames == header.frames && header.frames > 1)
        #expect(try ImageReading.decode(marked).pixels.array == ImageReading.decode(file).pixels.array)
    }

    @Test func `a result with a gain map has one packet with both`() throws {
        let source = UltraHDRWriter.scene(PixelSize(width: 80, height: 60)).bytes
        let marked = JPEGSegments.inserting(iptc([(116, "© Ann")]), into: source)
        var options = options(40, nil)
        (options.gainMap, options.keptMetadata) = (.keep, .rights)
        let file = try thumbnail(marked, options, .jpeg).bytes
        let header = try ImageHeader.inspect(file)
        #expect(header.gainMap != nil && header.rights?[.copyright] == "© Ann")
    }

    @Test func `only a source with kept texts has another key`() throws {
        func key(_ rights: SourceRights?, _ kept: KeptMetadata?, _ format: ImageFormat) throws -> [String] {
            var header = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 400, height: 300))
            header.rights = rights
            let wish = options(200, nil) { $0.keptMetadata = kept }
            return try RenderPlan(options: wish, format: format, source: header, limits: ImagingLimits()).keyTexts
        }
        let plain = try key(nil, [.ai, .rights], .jpeg)
        #expect(try key(Self.all, [], .jpeg) == plain)
        #expect(try key(Self.all, nil, .jpeg) == plain + ["metadata ai"])
        #expect(try key(Self.all, [.ai, .rights], .jpeg) == plain + ["metadata rights,ai"])
        #expect(try key(Self.all.only(.rights), [.ai, .rights], .jpeg) == plain + ["metadata rights"])
        #expect(try key(Self.all, [.ai, .rights], .gif) == key(nil, nil, .gif))
    }
}
