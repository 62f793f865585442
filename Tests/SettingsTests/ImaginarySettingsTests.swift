import Dialects
import Downloading
import Recipes
import Testing
import Text
import ThumbnailAPI
import ThumbnailPipeline

@testable import Settings

/// Settings of imaginary's dialect, and imaginary's flags as variables.
struct ImaginarySettingsTests {
    private static let signatureKey = "4f46feebafc4b5e988f131c4ff8b5997"

    private func load(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Settings {
        try SettingsLoader.load(arguments: arguments, environment: environment) { _ in "{}" }
    }

    private let container = ForeignContainer(service: "imaginary")

    @Test func `the dialect is off until it has a path, and its keys close others without one`() throws {
        #expect(try load([]).api.otherDialects.isEmpty)
        #expect(try load(["--imaginary-path", "/im"]).api.otherDialects.map(\.name) == ["imaginary"])
        #expect(try load(["--imaginary-key", "sesame"]).api.closingDialects == ["imaginary"])
        #expect(try load(["--imaginary-signature-key", Self.signatureKey]).api.closingDialects == ["imaginary"])
        for wrong in [
            ["--imaginary-path", "im"], ["--imaginary-signature-key", "short"],
            ["--imaginary-path", "/im", "--wsrv-path", "/im/x"],
        ] {
            #expect(throws: SettingsLoader.Failure.self) { try load(wrong) }
        }
    }

    @Test func `flags count as variables, below Alula's own settings`() throws {
        let settings = try container(
            [
                "IMAGINARY_KEY": "sesame", "IMAGINARY_PATH_PREFIX": "/api/v1/", "IMAGINARY_HTTP_CACHE_TTL": "60",
                "IMAGINARY_MAX_ALLOWED_RESOLUTION": "222.2", "IMAGINARY_DISABLE_ENDPOINTS": "crop,form",
                "IMAGINARY_ALLOWED_ORIGINS": "https://a.example/pics,https://*.b.example,http://c.example:81/la*",
                "IMAGINARY_ENABLE_URL_SIGNATURE": "true", "URL_SIGNATURE_KEY": Self.signatureKey,
                "IMAGINARY_URL_SIGNATURE_KEY": "short", "IMAGINARY_ENABLE_URL_SOURCE": "false", "PORT": "9000",
                "IMAGINARY_ENABLE_PLACEHOLDER": "true", "IMAGINARY_PLACEHOLDER_STATUS": "200",
            ], ["--imaginary-key", "own"])
        let imaginary = settings.dialects.imaginary
        #expect(imaginary.prefix?.path == "/api/v1" && imaginary.key == Array("own".utf8))
        #expect(imaginary.signatureKey == Array(Self.signatureKey.utf8) && !imaginary.takesURLs)
        #expect(imaginary.disabledRoutes == ["crop", "form"] && imaginary.maximumAge == 60)
        #expect(imaginary.placeholder?.status == 200 && imaginary.placeholder?.source == nil)
        #expect(settings.api.takesUploads)
        #expect(settings.pipeline.rules.limits.maximumSourcePixels == 222_200_000)
        #expect(
            settings.downloads.allowedSources.map(\.description) == [
                "a.example/pics/*", "*.b.example/*", "b.example/*", "c.example:81/la*",
            ])
    }

    @Test func `a folder is an origin`() throws {
        let settings = try container(["IMAGINARY_MOUNT": "/usr"])
        #expect(settings.dialects.imaginary.folder?.text == "imaginary-mount:")
        #expect(settings.dialects.origins.map(\.name) == ["imaginary-mount"])
    }

    @Test(arguments: [
        ("IMAGINARY_ENABLE_URL_SIGNATURE", "true"), ("IMAGINARY_ENABLE_URL_SIGNATURE", "yes"),
        ("IMAGINARY_ALLOWED_ORIGINS", "a.example"), ("IMAGINARY_MOUNT", "/no/such/folder"),
        ("IMAGINARY_CERTFILE", "/cert.pem"), ("IMAGINARY_MAX_ALLOWED_RESOLUTION", "many"),
        ("IMAGINARY_HTTP_CACHE_TTL", "-1"),
    ])
    func `a restriction of the original without an equivalent here stops the start`(name: String, value: String) {
        #expect(container.problems([name: value]).count == 1)
    }

    @Test func `keys are not shown, and ignored variables are named`() throws {
        let lines = container.problems([
            "IMAGINARY_ENABLE_URL_SIGNATURE": "true", "URL_SIGNATURE_KEY": "tooshort",
        ])
        #expect(lines.count == 1 && !lines[0].contains("tooshort"))
        let reading = OtherServiceEnvironment.imaginary
        var settings = Settings()
        let variables = reading.apply(
            [
                "IMAGINARY_AUTHORIZATION": "x", "IMAGINARY_RETURN_SIZE": "true", "IMAGINARY_GZIP": "true",
                "IMAGINARY_ENABLE_AUTH_FORWARDING": "false", "HOME": "/root",
            ], to: &settings
        ).variables
        #expect(
            variables.map { "\($0.name) \($0.meaning)" } == [
                "IMAGINARY_AUTHORIZATION unsupported", "IMAGINARY_ENABLE_AUTH_FORWARDING ignored",
                "IMAGINARY_GZIP ignored",
                "IMAGINARY_RETURN_SIZE ignored",
            ])
    }
}
