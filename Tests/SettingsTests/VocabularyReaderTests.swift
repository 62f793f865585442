import Dialects
import Recipes
import TestSupport
import Testing
import Text
import ThumbnailAPI

@testable import Commands
@testable import Settings

/// Watermarks and presets in the settings file.
struct VocabularyReaderTests {
    private func load(_ file: String, _ arguments: [String] = []) throws(SettingsLoader.Failure) -> Vocabulary {
        try SettingsLoader.load(arguments: ["--config", "a.json5"] + arguments, environment: [:]) { _ in file }
            .api.vocabulary
    }

    @Test func `watermarks and presets are read`() throws {
        let vocabulary = try load(
            """
            {
              presets: {
                card: { w: 400, h: '300', enlarge: true, dpr: 1.5, animated: false, watermark: "logo" },
                default: { q: 7e1 },
                theirs: "size:100:100/quality:50",
              },
              watermarks: {
                logo: { url: "media:logo.png", position: "top-left", x: -5, y: 6, opacity: 60, scale: 0.2, tile: true },
                Other_1: { url: "https://h/a.png" },
              },
              origins: { media: { url: "https://media/" } },
              onlyPresets: true,
            }
            """)
        #expect(vocabulary.allowsOnlyPresets)
        #expect(
            vocabulary.presets.mapValues { $0.map { "\($0.name)=\($0.value)" } } == [
                "card": ["w=400", "h=300", "enlarge=1", "dpr=1.5", "animated=0", "watermark=logo"], "default": ["q=70"],
            ])
        #expect(vocabulary.dialectPresets == ["theirs": "size:100:100/quality:50"])
        var options = WatermarkOptions()
        (options.position, options.x, options.y, options.opacity) = (.topLeft, -5, 6, 60)
        (options.scale, options.isTiled) = (2_000, true)
        #expect(
            vocabulary.watermarks == [
                "logo": Vocabulary.Watermark(source: "media:logo.png", options: options),
                "Other_1": Vocabulary.Watermark(source: "https://h/a.png"),
            ])
        #expect(try load("{ onlyPresets: true }", ["--only-presets", "off"]).allowsOnlyPresets == false)
    }

    @Test(arguments: [
        ("presets: []", "presets in the settings file: expected an object of presets by name"),
        ("watermarks: 1", "watermarks in the settings file: expected an object of watermarks by name"),
        (
            "presets: { card: { w: 0 } }",
            "presets.card.w in the settings file: invalid value \"0\": Must be a whole number from 1 to 16384."
        ),
        (
            "presets: { card: { nope: 1 } }",
            "presets.card.nope in the settings file: Unknown parameter."
        ),
        (
            "presets: { card: { url: 'https://h/a' } }",
            "presets.card.url in the settings file: invalid value: Not allowed in a preset."
        ),
        (
            "presets: { card: { preset: 'other' } }",
            "presets.card.preset in the settings file: invalid value \"other\": Not allowed in a preset."
        ),
        (
            "presets: { card: { w: 1, width: 2 } }",
            "presets.card.width in the settings file: invalid value \"2\": "
                + "The parameter is repeated, possibly under its alias."
        ),
        (
            "presets: { card: { w: [1] } }",
            "presets.card.w in the settings file: expected a string, a number, true or false"
        ),
        (
            "presets: { card: { w: 1.5 } }",
            "presets.card.w in the settings file: invalid value \"1.5\": Must be a whole number from 1 to 16384."
        ),
        (
            "presets: { card: { watermark: 'logo' } }",
            "presets.card.watermark in the settings file: invalid value \"logo\": Unknown watermark."
        ),
        (
            "presets: { card: { watermark: 'ftp://h/a' } }",
            "presets.card.watermark in the settings file: expected an http or https URL, or NAME:PATH of a named origin"
        ),
        (
            "presets: { card: 5 }",
            "presets.card in the settings file: expected an object of parameters, or a string in imgproxy's grammar"
        ),
        (
            "presets: { 'a,b': {} }",
            "presets.a,b in the settings file: expected a name of up to 64 letters, digits, points, underscores and hyphens"
        ),
        (
            "watermarks: { 'a:b': { url: 'https://h/a' } }",
            "watermarks.a:b in the settings file: expected a name of up to 64 letters, digits, points, underscores and "
                + "hyphens"
        ),
        (
            "watermarks: { logo: { opacity: 5 } }",
            "watermarks.logo.url in the settings file: expected a URL, or NAME:PATH of a named origin"
        ),
        (
            "watermarks: { logo: { url: 'media:a.png' } }",
            "watermarks.logo.url in the settings file: expected an http or https URL, or NAME:PATH of a named origin"
        ),
        (
            "watermarks: { logo: { url: 'https://h/a', opacity: 0 } }",
            "watermarks.logo.opacity in the settings file: invalid value \"0\": Must be a whole number from 1 to 100."
        ),
        (
            "watermarks: { logo: { url: 'https://h/a', size: 1 } }",
            "watermarks.logo.size in the settings file: no such member; expected an object with url, position, x, y, "
                + "opacity, scale, tile"
        ),
    ])
    func `an entry that can never work stops the start by its name`(members: String, line: String) {
        #expect(throws: SettingsLoader.Failure(lines: [line])) { try load("{ \(members) }") }
    }

    @Test func `they are allowed only in the file`() {
        #expect(throws: SettingsLoader.Failure.self) { try load("{}", ["--presets", "card"]) }
        #expect(throws: SettingsLoader.Failure.self) { try load("{}", ["--watermarks=logo"]) }
    }

    @Test func `a check lists every fault, with its line and column`() throws {
        let text = """
            {
              port: 99999,  nope: 1,
              origins: { "photos": { url: "https://h/", maxRedirects: 21 }, media: { folder: "/nonexistent/alula" } },
              presets: {
                card: { w: 1, h: 0,
                        fit: "crop" }, none: [],
                good: { w: 5 },
                "é": {}, list: { zoom: 1 },
              },
              watermarks: { logo: { scale: 2, size: 1 } },
            }
            """
        let faults = try CheckConfigCommand.report(on: text, environment: ["ALULA_PORT": "nonsense"]).faults
        let allowedName = "expected a name of up to 64 letters, digits, points, underscores and hyphens"
        #expect(
            faults == [
                ":2:17: nope in the settings file: no such setting; see `alula serve --help`",
                ":2:9: port in the settings file: invalid value \"99999\"; expected a whole number from 0 to 65535",
                ":3:59: origins.photos.maxRedirects in the settings file: expected a whole number from 0 to 20",
                ":10:23: watermarks.logo.url in the settings file: expected a URL, or NAME:PATH of a named origin",
                ":10:32: watermarks.logo.scale in the settings file: invalid value \"2\": "
                    + "Must be 0.01 to 1 with at most four decimals.",
                ":10:35: watermarks.logo.size in the settings file: no such member; expected an object with url, position, "
                    + "x, y, opacity, scale, tile",
                ":5:22: presets.card.h in the settings file: invalid value \"0\": Must be a whole number from 1 to 16384.",
                ":6:18: presets.card.fit in the settings file: invalid value \"crop\": Must be inside, outside, "
                    + "cover, contain or fill.",
                ":8:22: presets.list.zoom in the settings file: Unknown parameter.",
                ":6:34: presets.none in the settings file: expected an object of parameters, or a string in imgproxy's grammar",
                ":8:10: presets.é in the settings file: \(allowedName)",
                ":3:72: origins.media: /nonexistent/alula cannot be read",
            ])
        #expect(try CheckConfigCommand.report(on: "{ presets: { a: { w: 1 } } }", environment: [:]).faults.isEmpty)
        let error = #expect(throws: SettingsFileError.self) {
            try CheckConfigCommand.report(on: "{\n  // é\n  é: 1 2 }", environment: [:]).faults
        }
        #expect(error?.position?.description == "3:8")
    }

    @Test(arguments: [
        ("{ autoQualityMin: 60,\n autoQualityMax: 50 }", ":1:19: autoQualityMin is above autoQualityMax"),
        ("{\n autoQualityMax: 30 }", ":2:18: autoQualityMin is above autoQualityMax"),
        ("{ adminPort: 8080 }", ":1:14: port and adminPort are both 8080"),
        (
            "{ clientMaxAgeMaximum: '1s', clientMaxAgeMinimum: '2s' }",
            ":1:51: clientMaxAgeMinimum is above clientMaxAgeMaximum"
        ),
    ])
    func `a contradiction has the position of a setting in the file`(text: String, line: String) throws {
        let faults = try CheckConfigCommand.report(on: text, environment: [:]).faults
        #expect(faults.count == 1 && faults.first?.hasPrefix(line) == true, "\(faults)")
    }

    @Test func `a file that is not an object has a position, too`() {
        let error = #expect(throws: SettingsFileError.self) {
            try CheckConfigCommand.report(on: "// a list\n  []", environment: [:]).faults
        }
        #expect(error?.position?.description == "2:3")
    }
}
