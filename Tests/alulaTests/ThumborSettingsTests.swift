import Crypto
import Downloading
import HTTPServing
import Imaging
import Testing
import Text
import ThumbnailAPI

@testable import alula

/// The settings of the dialect of thumbor and imagor, and imagor's environment in their place.
struct ThumborSettingsTests {
    private func load(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Settings {
        try SettingsLoader.load(arguments: arguments, environment: environment) { _ in "{}" }
    }

    private func container(_ environment: [String: String], _ arguments: [String] = []) throws -> Settings {
        try load(["--environment-of", "imagor"] + arguments, environment)
    }

    private func problems(_ environment: [String: String]) -> [String] {
        do {
            _ = try container(environment)
            return []
        } catch {
            return (error as? SettingsLoader.Failure)?.lines ?? []
        }
    }

    @Test func `the dialect is off until it has a place`() throws {
        #expect(try load([]).api.otherDialects.isEmpty)
        #expect(try load(["--thumbor-path", "/img"]).api.otherDialects.map(\.name) == ["thumbor"])
        #expect(throws: SettingsLoader.Failure.self) { try load(["--thumbor-path", "img"]) }
    }

    @Test func `each setting reaches the dialect`() throws {
        let thumbor = try load([
            "--thumbor-path", "/", "--thumbor-key", "geheim", "--thumbor-signer", "sha512", "--thumbor-signer-truncate",
            "40",
            "--thumbor-unsafe", "on", "--thumbor-base-url", "media:", "--thumbor-auto-formats", "avif,webp",
            "--thumbor-auto-jpeg", "on",
        ]).dialects.thumbor
        #expect(thumbor.key == Array("geheim".utf8) && thumbor.signer == .sha512 && thumbor.signatureLength == 40)
        #expect(thumbor.servesUnsafe == true && thumbor.baseURL == "media:" && thumbor.replacesPNG)
        #expect(thumbor.automaticFormats == [.avif, .webp])
        for wrong in [
            ["--thumbor-signer", "md5"], ["--thumbor-signer-truncate", "7"], ["--thumbor-auto-formats", "svg"],
        ] {
            #expect(throws: SettingsLoader.Failure.self, "\(wrong)") { try load(wrong) }
        }
    }

    @Test func `imagor's variables count below Alula's own settings`() throws {
        let settings = try container([
            "IMAGOR_SECRET": "geheim", "IMAGOR_SIGNER_TYPE": "SHA256", "IMAGOR_SIGNER_TRUNCATE": "40",
            "IMAGOR_UNSAFE": "1",
            "IMAGOR_AUTO_WEBP": "true", "IMAGOR_AUTO_AVIF": "1", "SERVER_PATH_PREFIX": "/img/", "PORT": "8000",
            "HTTP_LOADER_ALLOWED_SOURCES": "*.example.com", "HTTP_LOADER_MAX_ALLOWED_SIZE": "1000000",
            "VIPS_MAX_ANIMATION_FRAMES": "10", "VIPS_DISABLE_FILTERS": "blur,label", "IMAGOR_REQUEST_TIMEOUT": "30s",
        ])
        let thumbor = settings.dialects.thumbor
        #expect(thumbor.key == Array("geheim".utf8) && thumbor.signer == .sha256 && thumbor.signatureLength == 40)
        #expect(thumbor.servesUnsafe == true && thumbor.place?.path == "/img" && thumbor.quality == 75)
        #expect(thumbor.automaticFormats == [.avif, .webp] && thumbor.disabledFilters == ["blur", "label"])
        #expect(settings.publicListener.port == 8_000 && settings.downloads.maximumBytes == 1_000_000)
        #expect(settings.api.requestTimeout == .seconds(30) && settings.ignoredVariables.isEmpty)
        let own = try container(["IMAGOR_SECRET": "a", "PORT": "8000"], ["--thumbor-key", "b", "--port", "81"])
        #expect(own.dialects.thumbor.key == [UInt8(ascii: "b")] && own.publicListener.port == 81)
    }

    @Test func `addresses without a scheme get imagor's`() throws {
        #expect(try container([:]).dialects.thumbor.baseURL == "https://")
        #expect(try container(["HTTP_LOADER_DEFAULT_SCHEME": "http"]).dialects.thumbor.baseURL == "http://")
        let both = ["HTTP_LOADER_DEFAULT_SCHEME": "http", "HTTP_LOADER_BASE_URL": "https://a.example/b"]
        #expect(try container(both).dialects.thumbor.baseURL == "https://a.example/b/")
    }

    @Test func `variables that mean nothing here are named, and others must have allowed values`() throws {
        let ignored = try container([
            "S3_LOADER_BUCKET": "a", "FILE_LOADER_BASE_DIR": "/b", "IMAGOR_BASE_PARAMS": "c", "HOME": "/root",
            "VIPS_CONCURRENCY": "2",
            "IMAGOR_DISABLE_ERROR_BODY": "1",
        ]).ignoredVariables
        #expect(ignored == ["FILE_LOADER_BASE_DIR", "IMAGOR_BASE_PARAMS", "S3_LOADER_BUCKET"])
        #expect(
            problems(["IMAGOR_UNSAFE": "maybe"]) == [
                "IMAGOR_UNSAFE: \"maybe\" is not allowed; allowed is true or false"
            ])
        #expect(problems(["IMAGOR_SIGNER_TYPE": "md5"]).count == 1)
    }
}
