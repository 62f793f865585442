import Recipes
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

/// Each option of imgproxy under both names, including unusual values.
struct ImgproxyOptionTests {
    private func options(_ text: String) throws -> ImgproxyOptions { try ImgproxyFixture.options(text) }

    @Test func `resize sets type, size, enlarging and canvas`() throws {
        for name in ["resize", "rs"] {
            let options = try options("\(name):fill-down:300:200:1:t:nowe:10:0.5")
            #expect(options.resizingType == .fillDown && options.width == 300 && options.height == 200)
            #expect(options.enlarges && options.extend.isOn)
            #expect(options.extend.gravity == ImgproxyGravity(kind: .northWest, x: 10, y: 0.5))
        }
        let empty = try options("w:5/rs::::")
        #expect(empty.resizingType == .fit && empty.width == 5 && !empty.enlarges)
        #expect(try options("s:7").width == 7 && options("size:7:8").height == 8)
        #expect(try options("rt:auto").resizingType == .auto)
        #expect(try options("s:100:100/w:50").height == 100)
    }

    @Test func `sides are whole numbers in Go's syntax`() throws {
        #expect(try options("w:+100").width == 100 && options("h:0100").height == 100 && options("w:0").width == 0)
        #expect(try options("min-width:5").minimumWidth == 5 && options("mh:6").minimumHeight == 6)
        for wrong in ["w:", "w:-1", "w:1.5", "w:1:2", "w:x", "w:%20100", "w:99999999999999999999", "w:1e3", "h:0x10"] {
            #expect(ImgproxyFixture.fault("\(wrong)/\(ImgproxyFixture.source)")?.parameter == String(wrong.prefix(1)))
        }
    }

    @Test func `factors are above 0`() throws {
        #expect(try options("z:2").zoomY == 2 && options("zoom:2:3").zoomY == 3 && options("dpr:1e1").ratio == 10)
        #expect(try options("dpr:.5").ratio == 0.5)
        for wrong in [
            "dpr:0", "dpr:-1", "dpr:", "dpr:nan", "dpr:NaN", "dpr:inf", "dpr:0x2", "dpr:1e400", "z:0", "z:1:1:1",
        ] {
            #expect(ImgproxyFixture.fault("\(wrong)/\(ImgproxyFixture.source)") != nil, "\(wrong)")
        }
    }

    @Test func `other texts than booleans mean false`() throws {
        for yes in ["1", "t", "T", "true", "True", "TRUE"] { #expect(try options("el:\(yes)").enlarges, "\(yes)") }
        for no in ["0", "f", "false", "yes", "2", "", "tRuE"] { #expect(try !options("el:\(no)").enlarges, "\(no)") }
        #expect(ImgproxyFixture.fault("el:1:1/\(ImgproxyFixture.source)") != nil)
    }

    @Test func `later places keep earlier distances, except after sm`() throws {
        #expect(try options("g:fp:0.2:0.3/g:we").gravity == ImgproxyGravity(kind: .west, x: 0.2, y: 0.3))
        #expect(try options("g:we:5:6/g:sm/g:no").gravity == ImgproxyGravity(kind: .north))
        #expect(try options("g:fp::").gravity == ImgproxyGravity(kind: .focus))
        let crop = try options("c:100:100:soea:10:10/c:200:50")
        #expect(crop.cropGravity == ImgproxyGravity(kind: .southEast, x: 10, y: 10) && crop.cropWidth == 200)
        #expect(try options("g:so/c:5").effectiveCropGravity.kind == .south)
        for wrong in [
            "g:", "g:center", "g:re", "g:fp:0.5", "g:fp:1.5:0", "g:fp:-0.1:0", "g:sm:1", "g:no:1:2:3", "g:no:x",
            "c:1:1:re", "c:-1", "c:", "c:0:0:gravity:fp:0.5:0.5", "ex:1:sm", "ex:1:ce:1:2:3",
        ] {
            #expect(ImgproxyFixture.fault("\(wrong)/\(ImgproxyFixture.source)") != nil, "\(wrong)")
        }
    }

    @Test func `canvases by size and by proportion are set apart`() throws {
        let options = try options("ex:1:so/extend_ar:1:fp:0.1:0.2")
        #expect(options.extend.gravity.kind == .south && options.extendRatio.gravity.x == 0.1)
        #expect(try self.options("exar:1").extendRatio.isOn && self.options("extend_aspect_ratio:1").extendRatio.isOn)
        #expect(try !self.options("ex:1/ex:").extend.isOn)
    }

    @Test func `an empty threshold disables the trim`() throws {
        let trim = try options("t:10:FF00ff:1:0").trim
        #expect(trim.threshold == 10 && trim.color == Color(red: 255, green: 0, blue: 255))
        #expect(trim.isEqualAcross && !trim.isEqualDown)
        #expect(try options("trim:10:fff/t:").trim.threshold == nil && options("t:10:fff/t:5").trim.color == nil)
        for wrong in ["t:x", "t:10:zzz", "t:10:ff", "t:1:2:3:4:5"] {
            #expect(ImgproxyFixture.fault("\(wrong)/\(ImgproxyFixture.source)") != nil, "\(wrong)")
        }
    }

    @Test(arguments: [
        ("pd:1", [1, 1, 1, 1]), ("pd:1:2", [1, 2, 1, 2]), ("pd:1:2:3", [1, 2, 3, 2]), ("pd:1:2:3:4", [1, 2, 3, 4]),
        ("padding:1::3", [1, 1, 3, 1]), ("pd:9:8:7:6/pd:5", [5, 5, 5, 5]), ("pd:9/pd::2", [9, 2, 9, 2]),
        ("pd:0:0:0:50", [0, 0, 0, 50]),
    ])
    func `missing sides of a padding are as in CSS`(text: String, sides: [Int]) throws {
        let padding = try options(text).padding
        #expect([padding.top, padding.right, padding.bottom, padding.left] == sides)
    }

    @Test func `rotations are whole turns and quarters`() throws {
        #expect(try options("rot:90").quarters == 1 && options("rotate:450").quarters == 1)
        #expect(try options("rot:-90").quarters == 3 && options("rot:-360").quarters == 0)
        #expect(ImgproxyFixture.fault("rot:45/\(ImgproxyFixture.source)")?.parameter == "rot")
        let flips = try options("fl:1:1/fl:0")
        #expect(!flips.mirrorsX && flips.mirrorsY)
        #expect(try !options("ar:0").turnsUpright && options("auto_rotate:1").turnsUpright)
    }

    @Test func `a background is three numbers or hexadecimal`() throws {
        #expect(try options("bg:255:128:0").background == Color(red: 255, green: 128, blue: 0))
        #expect(try options("background:f80").background == Color(red: 255, green: 136, blue: 0))
        #expect(try options("bg:f80/bg:").background == nil)
        for wrong in ["bg:256:0:0", "bg:ff000080", "bg:1:2", "bg:-1:0:0", "bg:red", "bg:1:2:3:4"] {
            #expect(ImgproxyFixture.fault("\(wrong)/\(ImgproxyFixture.source)") != nil, "\(wrong)")
        }
    }

    @Test func `filters are nonnegative numbers`() throws {
        let options = try options("bl:1.5/sharpen:2/pix:10")
        #expect(options.blur == 1.5 && options.sharpen == 2 && options.pixelate == 10)
        for wrong in ["bl:-1", "blur:x", "sh:-0.1", "pix:1.5", "pixelate:-1"] {
            #expect(ImgproxyFixture.fault("\(wrong)/\(ImgproxyFixture.source)") != nil, "\(wrong)")
        }
    }

    @Test func `a watermark is a second source if one is set`() throws {
        let path = "wm:0.5:soea:10:-5:0.2/\(ImgproxyFixture.source)"
        let query = try ImgproxyFixture.query(path) { $0.watermark = "marks:a.png" }
        #expect(query.additional == [AdditionalSource(.watermark, source: "marks:a.png")])
        #expect(query.ignoredOptions.isEmpty)
        let none = try ImgproxyFixture.query(path)
        #expect(none.additional.isEmpty && none.ignoredOptions == ["wm:0.5:soea:10:-5:0.2"])
        let off = try ImgproxyFixture.query("wm:0/\(ImgproxyFixture.source)") { $0.watermark = "marks:a.png" }
        #expect(off.additional.isEmpty)
        for wrong in ["wm:", "wm:2", "wm:-1", "wm:1:fp:1:1", "wm:1:ce:0:0:0", "wm:1:xx"] {
            #expect(ImgproxyFixture.fault("\(wrong)/\(ImgproxyFixture.source)") != nil, "\(wrong)")
        }
    }

    @Test func `qualities are of all formats or of one, and 0 is the default`() throws {
        let options = try options("q:90/fq:webp:20:jpg:30/format_quality:avif:0")
        #expect(options.quality == 90 && options.formatQualities[.webp] == 20 && options.formatQualities[.jpeg] == 30)
        #expect(options.formatQualities[.avif] == 63)
        for wrong in ["q:101", "q:-1", "q:80.5", "fq:webp", "fq:psd:50", "fq:webp:101", "mb:-1", "mb:x"] {
            #expect(ImgproxyFixture.fault("\(wrong)/\(ImgproxyFixture.source)") != nil, "\(wrong)")
        }
        #expect(try self.options("max_bytes:1000").maximumBytes == 1_000)
    }

    @Test func `formats have imgproxy's names`() throws {
        #expect(try options("f:jpg").format == .jpeg && options("ext:jxl").format == .jxl)
        for wrong in ["f:", "f:PNG", "f:tif", "f:best", "f:mp4", "skp:", "skp:jpg:x"] {
            #expect(ImgproxyFixture.fault("\(wrong)/\(ImgproxyFixture.source)") != nil, "\(wrong)")
        }
        #expect(try options("skp:jpg/skip_processing:png").skippedFormats == [.jpeg, .png])
    }

    @Test func `response options are not part of the image`() throws {
        let query = try ImgproxyFixture.query(
            "cb:x/exp:2000000000/fn:bXkgY2F0:1/att:1/\(ImgproxyFixture.source)")
        #expect(query.expires == 2_000_000_000 && query.form.fileName == "my cat" && query.form.isAttachment)
        let plain = try ImgproxyFixture.query(ImgproxyFixture.source)
        #expect(query.recipe == plain.recipe)
        #expect(plain.expires == nil && plain.form.fileName == nil && !plain.form.isAttachment)
        #expect(try ImgproxyFixture.query("exp:-5/fn:/\(ImgproxyFixture.source)") == plain)
        for wrong in ["exp:", "exp:x", "fn:%25%25:1", "fn:a:b:c", "cb:a:b"] {
            #expect(ImgproxyFixture.fault("\(wrong)/\(ImgproxyFixture.source)") != nil, "\(wrong)")
        }
    }

    @Test func `options without a meaning here are reported`() throws {
        let query = try ImgproxyFixture.query("sm:0/scp:0/eth:1/ph:1/\(ImgproxyFixture.source)")
        #expect(query.ignoredOptions == ["sm:0", "eth:1", "ph:1"])
        let usual = try ImgproxyFixture.query("sm:1/scp:1/eth:0/ph:0/cb:1/\(ImgproxyFixture.source)")
        #expect(usual.ignoredOptions.isEmpty)
    }

    @Test func `wide colors are preserved with the profile`() throws {
        func gamut(_ options: String) throws -> Gamut? {
            try ImgproxyFixture.draft(options, .still(.jpeg, 40, 30)).gamut
        }
        #expect(try gamut("") == nil && gamut("scp:1") == .srgb)
        #expect(try gamut("scp:0") == .auto && gamut("strip_color_profile:0") == .auto)
    }

    @Test func `copyright is preserved unless an option disables it`() throws {
        func keeps(_ options: String) throws -> Bool {
            try ImgproxyFixture.draft(options, .still(.jpeg, 40, 30)).keepsCopyright
        }
        #expect(try keeps("") && keeps("sm:0/kcr:0") && !keeps("kcr:0"))
    }

    @Test func `limits change only if a setting allows it`() throws {
        for option in ["msr:0.5", "msfs:1000", "maf:5", "mafr:1", "mrd:100"] {
            let path = "\(option)/\(ImgproxyFixture.source)"
            #expect(ImgproxyFixture.fault(path) != nil)
            #expect(ImgproxyFixture.fault(path) { $0.allowsSecurityOptions = true } == nil)
        }
        let options = try ImgproxyFixture.options("msr:0.5/maf:5/mafr:0.25/mrd:100") { $0.allowsSecurityOptions = true }
        #expect(options.maximumSourcePixels == 500_000 && options.maximumFrames == 5)
        #expect(options.maximumFramePixels == 250_000 && options.maximumSide == 100)
        let limited = try ImgproxyFixture.query("msfs:1000/\(ImgproxyFixture.source)") {
            $0.allowsSecurityOptions = true
        }
        #expect(limited.limits.maximumSourceBytes == 1_000)
        #expect(ImgproxyFixture.fault("maf:0/\(ImgproxyFixture.source)") { $0.allowsSecurityOptions = true } != nil)
    }
}
