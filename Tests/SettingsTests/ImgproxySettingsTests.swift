import Dialects
import Downloading
import HTTPServing
import Recipes
import Telemetry
import TestSupport
import Testing
import Text
import ThumbnailAPI
import ThumbnailPipeline

@testable import Settings

/// Settings of imgproxy's dialect, and imgproxy's environment variables.
struct ImgproxySettingsTests {
    private static let key = "616c756c612d6b6579"
    private static let salt = "616c756c612d73616c74"

    private func load(
        _ arguments: [String] = [], _ environment: [String: String] = [:], file: String = "{}"
    ) throws(SettingsLoader.Failure) -> Settings {
        try SettingsLoader.load(arguments: arguments, environment: environment) { _ in file }
    }

    private let container = ForeignContainer(service: "imgproxy")

    @Test func `S3 variables stop the start by name, and their absence does not`() throws {
        let imgproxy = ForeignContainer(service: "imgproxy")
        #expect(imgproxy.problems(["IMGPROXY_USE_S3": "true"]).first?.hasPrefix("IMGPROXY_USE_S3: ") == true)
        #expect(imgproxy.problems(["IMGPROXY_USE_S3": "false"]).isEmpty)
    }

    @Test func `the dialect is off until it has a prefix`() throws {
        #expect(try load().api.otherDialects.isEmpty)
        #expect(try load(["--imgproxy-path", "/img"]).api.otherDialects.map(\.name) == ["imgproxy"])
        #expect(try container([:]).dialects.imgproxy.prefix == PathPrefix("/"))
        #expect(throws: SettingsLoader.Failure.self) { try load(["--imgproxy-path", "img"]) }
    }

    @Test func `settings have flags with whole words`() throws {
        let settings = try load([
            "--imgproxy-path", "/", "--imgproxy-keys", Self.key, "--imgproxy-salts", Self.salt,
            "--imgproxy-signature-size", "12", "--imgproxy-trusted-signatures", "a, b", "--imgproxy-base-url",
            "https://h/", "--imgproxy-arguments-separator", ",",
        ]).dialects.imgproxy
        #expect(settings.keys == [Array("alula-key".utf8)] && settings.salts == [Array("alula-salt".utf8)])
        #expect(settings.signatureSize == 12 && settings.trustedSignatures == ["a", "b"])
        #expect(settings.baseURL == "https://h/" && settings.argumentsSeparator == ",")
    }

    @Test func `keys need as many salts`() {
        #expect(throws: SettingsLoader.Failure.self) {
            try load([
                "--imgproxy-path", "/", "--imgproxy-keys", "\(Self.key),\(Self.key)", "--imgproxy-salts", Self.salt,
            ])
        }
        #expect(container.problems(["IMGPROXY_KEY": Self.key]).count == 1)
        let problems = container.problems(["IMGPROXY_KEY": "xyz", "IMGPROXY_SALT": Self.salt])
        #expect(problems.allSatisfy { !$0.contains("xyz") })
    }

    @Test func `keys and limits close the dialects that could bypass them`() throws {
        let signed = ["IMGPROXY_KEY": Self.key, "IMGPROXY_SALT": Self.salt]
        #expect(try container(signed).api.closedDialects == ["native"])
        #expect(try container(signed, ["--signing-keys", String(repeating: "ab", count: 32)]).api.closedDialects == [])
        #expect(try container(signed, ["--unsigned-dialects", "native"]).api.closedDialects == [])
        #expect(try container(signed, ["--wsrv-path", "/w"]).api.closedDialects == ["native", "wsrv"])
        #expect(try container([:]).api.closedDialects.isEmpty)
        #expect(
            try load(["--imgproxy-keys", Self.key, "--imgproxy-salts", Self.salt]).api.closedDialects == ["native"])
        for (name, value) in [
            ("ALLOWED_PROCESSING_OPTIONS", "w"), ("ONLY_PRESETS", "1"), ("MAX_RESULT_DIMENSION", "500"),
            ("MAX_ANIMATION_FRAMES", "1"), ("MAX_ANIMATION_FRAME_RESOLUTION", "1"),
        ] {
            #expect(try container(["IMGPROXY_" + name: value]).api.closedDialects == ["native"], "\(name)")
        }
        for (name, value) in [("ONLY_PRESETS", "0"), ("MAX_RESULT_DIMENSION", "0"), ("QUALITY", "70")] {
            #expect(try container(["IMGPROXY_" + name: value]).api.closedDialects.isEmpty, "\(name)")
        }
    }

    @Test func `names of version 3 are read, and those of version 4 take precedence`() throws {
        let old = [
            "IMGPROXY_CONCURRENCY": "3", "IMGPROXY_READ_TIMEOUT": "7", "IMGPROXY_WRITE_TIMEOUT": "9",
            "IMGPROXY_ENABLE_WEBP_DETECTION": "true", "IMGPROXY_ENABLE_AVIF_DETECTION": "true",
        ]
        let settings = try container(old)
        #expect(settings.renderWorkers == 3 && settings.api.requestTimeout == .seconds(9))
        #expect(settings.publicListener.headerTimeout == .seconds(7))
        var expected = ImgproxyDefaults()
        expected.negotiate("webp", isEnforced: false)
        expected.negotiate("avif", isEnforced: false)
        #expect(settings.dialects.imgproxy.defaults == expected)
        let both = try container(old.merging(["IMGPROXY_WORKERS": "5", "IMGPROXY_AUTO_WEBP": "false"]) { $1 })
        #expect(both.renderWorkers == 5 && both.dialects.imgproxy.defaults != expected)
        #expect(
            both.otherServiceVariables.contains(OtherServiceVariable(name: "IMGPROXY_CONCURRENCY", meaning: .ignored)))
    }

    @Test func `metrics have imgproxy's listener`() throws {
        let listener = try container(["IMGPROXY_PROMETHEUS_BIND": ":8081"]).metricsListener
        #expect(listener?.port == 8_081 && listener?.bindAddress == "0.0.0.0")
        let own = try load(["--metrics-bind", "[::1]:9100"]).metricsListener
        #expect(own?.port == 9_100 && own?.bindAddress == "::1")
        #expect(try load().metricsListener == nil)
        #expect(container.problems(["IMGPROXY_PROMETHEUS_BIND": "8081"]).count == 1)
        // The admin listener serves more than metrics, so the variable does not change its address.
        #expect(try container(["IMGPROXY_PROMETHEUS_BIND": ":8081"]).adminListener.bindAddress == "127.0.0.1")
        #expect(throws: SettingsLoader.Failure.self) { try load(["--metrics-bind", ":9091"]) }
    }

    @Test(
        arguments: [
            ([:], true, true), (["IMGPROXY_OPEN_TELEMETRY_ENABLE": "true"], true, true),
            (["IMGPROXY_OPEN_TELEMETRY_ENABLE": "false"], false, false),
            (["IMGPROXY_OPEN_TELEMETRY_ENABLE_METRICS": "false"], true, false),
        ] as [([String: String], Bool, Bool)])
    func `OpenTelemetry's collector variables can be disabled`(
        variables: [String: String], traces: Bool, metrics: Bool
    ) throws {
        let exports = try container(variables.merging(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"]) { $1 }).exports
        #expect((exports.traces.endpoint != nil) == traces && (exports.metrics.endpoint != nil) == metrics)
    }

    @Test func `files are sources only where they are allowed`() throws {
        func isRead(_ sources: String?) throws -> Bool {
            var variables = ["IMGPROXY_LOCAL_FILESYSTEM_ROOT": "/tmp"]
            variables["IMGPROXY_ALLOWED_SOURCES"] = sources
            let settings = try container(variables)
            let isNamed = settings.downloads.origins["imgproxy-local"] != nil
            #expect(isNamed == (settings.dialects.imgproxy.localOrigin != nil))
            return isNamed
        }
        #expect(try isRead(nil) && isRead("local://,https://h/") && isRead("local:///"))
        #expect(try !isRead("https://h/"))
        let files = try container(["IMGPROXY_ALLOWED_SOURCES": "local://"]).downloads
        #expect(try !files.allows(SourceURL(parsing: "https://h/a")))
        let part = container.problems(["IMGPROXY_ALLOWED_SOURCES": "local:///photos/"])
        #expect(part.count == 1 && part[0].hasPrefix("IMGPROXY_ALLOWED_SOURCES:"))
    }

    @Test func `variables in external stores stop the start, because they could contain keys`() {
        for name in ["ENV_LOCAL_FILE_PATH", "ENV_AWS_SECRET_ID"] {
            #expect(container.problems(["IMGPROXY_" + name: "x"]).count == 1)
        }
    }

    @Test func `settings take precedence over variables of the same meaning`() throws {
        let variables = [
            "IMGPROXY_BIND": "127.0.0.2:9000", "IMGPROXY_MAX_REDIRECTS": "3", "IMGPROXY_TIMEOUT": "7",
            "IMGPROXY_MAX_SRC_RESOLUTION": "0.5", "IMGPROXY_MAX_SRC_FILE_SIZE": "1000",
            "IMGPROXY_BASE_URL": "https://a/",
            "IMGPROXY_WORKERS": "0", "IMGPROXY_ALLOW_ORIGIN": "*", "IMGPROXY_LOG_LEVEL": "warn",
        ]
        let settings = try container(variables)
        #expect(settings.publicListener.port == 9_000 && settings.publicListener.bindAddress == "127.0.0.2")
        #expect(settings.downloads.maximumRedirects == 3 && settings.api.requestTimeout == .seconds(7))
        #expect(
            settings.pipeline.rules.limits.maximumSourcePixels == 500_000 && settings.downloads.maximumBytes == 1_000)
        #expect(settings.api.allowOrigin == "*" && settings.logLevel == .warning)
        let both = try container(
            variables, ["--port", "1234", "--max-redirects", "1", "--imgproxy-base-url", "https://b/"])
        #expect(both.publicListener.port == 1_234 && both.downloads.maximumRedirects == 1)
        #expect(both.dialects.imgproxy.baseURL == "https://b/")
        #expect(try load([], variables).publicListener.port == 8_080)
    }

    @Test func `targets are parsed as the variables say`() throws {
        let settings = try container([
            "IMGPROXY_PATH_PREFIX": "/img/", "IMGPROXY_ONLY_PRESETS": "true", "IMGPROXY_PRESETS": "a=w:1|b=h:2/pr:a",
            "IMGPROXY_PRESETS_SEPARATOR": "|", "IMGPROXY_ALLOWED_PROCESSING_OPTIONS": "w, h",
            "IMGPROXY_ALLOW_SECURITY_OPTIONS": "1", "IMGPROXY_BASE64_URL_INCLUDES_FILENAME": "t",
            "IMGPROXY_URL_REPLACEMENTS": "cdn://*/=https://h/;x=y", "IMGPROXY_WATERMARK_URL": "https://h/m.png",
            "IMGPROXY_FALLBACK_IMAGE_URL": "https://h/f.png", "IMGPROXY_TTL": "60",
            "IMGPROXY_RETURN_ATTACHMENT": "true",
        ]).dialects.imgproxy
        #expect(settings.prefix == PathPrefix("/img") && settings.allowsOnlyPresets)
        #expect(settings.presets == ["a": "w:1", "b": "h:2/pr:a"] && settings.allowedOptions == ["w", "h"])
        #expect(settings.allowsSecurityOptions && settings.ignoresNameAfterBase64 && settings.replacements.count == 2)
        #expect(settings.watermark == "https://h/m.png" && settings.fallback == "https://h/f.png")
        #expect(settings.maximumAge == 60 && settings.returnsAttachments)
        let passing = try container(["IMGPROXY_TTL": "60", "IMGPROXY_CACHE_CONTROL_PASSTHROUGH": "true"])
        #expect(passing.dialects.imgproxy.maximumAge == nil)
    }

    @Test func `options have the variables' defaults`() throws {
        let defaults = try container([
            "IMGPROXY_QUALITY": "70", "IMGPROXY_AUTO_ROTATE": "false", "IMGPROXY_STRIP_METADATA": "false",
            "IMGPROXY_KEEP_COPYRIGHT": "false", "IMGPROXY_WATERMARK_OPACITY": "0.5",
            "IMGPROXY_MAX_ANIMATION_FRAMES": "64",
            "IMGPROXY_MAX_RESULT_DIMENSION": "250", "IMGPROXY_USE_LINEAR_COLORSPACE": "true",
            "IMGPROXY_FORMAT_QUALITY": "avif=50, webp=60", "IMGPROXY_PREFERRED_FORMATS": "webp,png",
            "IMGPROXY_MAX_ANIMATION_FRAME_RESOLUTION": "0.25",
        ]).dialects.imgproxy.defaults
        #expect(
            defaults.quality == 70 && !defaults.turnsUpright && !defaults.stripsMetadata && !defaults.keepsCopyright)
        #expect(defaults.watermarkOpacity == 0.5 && defaults.maximumFrames == 64 && defaults.maximumSide == 250)
        #expect(defaults.light == .linear && defaults.maximumFramePixels == 250_000)
    }

    @Test func `addresses are opened only on request`() throws {
        #expect(try container([:]).downloads.allowedNetworks.isEmpty)
        let opened = try container([
            "IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES": "true", "IMGPROXY_ALLOW_PRIVATE_SOURCE_ADDRESSES": "false",
        ]).downloads.allowedNetworks
        #expect(opened.count == 2)
    }

    @Test func `allowed sources are prefixes of URLs`() throws {
        func allows(_ text: String, _ url: String) throws -> Bool {
            try container(["IMGPROXY_ALLOWED_SOURCES": text]).downloads.allows(SourceURL(parsing: url))
        }
        #expect(try allows("https://h/a,local://", "https://h/a/b.jpg") && !allows("https://h/a", "https://h/b"))
        #expect(try allows("https://*.h/", "https://x.h/b") && !allows("https://h", "https://h.evil/"))
        #expect(try allows("https://h/*/public/", "https://h/a/public/b") && allows("https://", "https://any/a"))
        #expect(try !allows("https://", "http://any/a"))
        // A star does not match slashes.
        #expect(try !allows("https://h/*/public/", "https://h/a/b/public/c"))
        #expect(try !allows("https://h/*/public/", "https://h/private/a?/public/"))
        // Without a valid pattern, every source would be allowed.
        #expect(container.problems(["IMGPROXY_ALLOWED_SOURCES": "s3://bucket/"]).count == 1)
    }

    @Test func `only a watermark's file in its folder can be requested`() throws {
        let folder = TemporaryFolder()
        folder.write("mark.png", [1, 2, 3])
        let file = folder.path + "/mark.png"
        let settings = try container(["IMGPROXY_WATERMARK_PATH": file])
        let name = try #require(settings.dialects.imgproxy.watermark)
        #expect(throws: Never.self) { try DownloadRules(settings.downloads).identity(of: name) }
        let other = name.string.replacing("mark.png", with: "other.png")
        #expect(throws: SourceURLError.pathNotAllowed) {
            try DownloadRules(settings.downloads).identity(of: ExactText(other))
        }
        #expect(container.problems(["IMGPROXY_WATERMARK_PATH": "/no/such/file.png"]).count == 1)
    }

    @Test func `a watermark may be in the variable itself`() throws {
        let settings = try container(["IMGPROXY_WATERMARK_DATA": "AQID"])
        let name = try #require(settings.dialects.imgproxy.watermark)
        #expect(throws: Never.self) { try DownloadRules(settings.downloads).identity(of: name) }
        #expect(settings.downloads.origins.all.map(\.location) == [.memory([1, 2, 3])])
        #expect(container.problems(["IMGPROXY_WATERMARK_DATA": "?"]).count == 1)
    }

    @Test func `unsupported variables are listed, and indispensable ones stop the start`() throws {
        let settings = try container([
            "IMGPROXY_SENTRY_DSN": "x", "IMGPROXY_NEW_RELIC_KEY": "y", "IMGPROXY_EMPTY": "", "IMGPROXYX": "z",
            "IMAGOR_X": "1",
        ])
        #expect(
            settings.otherServiceVariables == [
                OtherServiceVariable(name: "IMGPROXY_NEW_RELIC_KEY", meaning: .unsupported),
                OtherServiceVariable(name: "IMGPROXY_SENTRY_DSN", meaning: .unsupported),
            ])
        let problems = container.problems(["IMGPROXY_SECRET": "hush"])
        #expect(problems.allSatisfy { $0.contains("IMGPROXY_SECRET") && !$0.contains("hush") })
        for (name, value) in [
            ("SECRET", "x"), ("PRESETS", "a=w"), ("PRESETS", "a"), ("QUALITY", "0"), ("QUALITY", "101"),
            ("AUTO_WEBP", "yes"),
            ("PATH_PREFIX", "/a/../b"), ("SIGNATURE_SIZE", "33"), ("FORMAT_QUALITY", "webp"),
            ("PREFERRED_FORMATS", "psd"),
            ("WATERMARK_OPACITY", "0"), ("URL_REPLACEMENTS", "a"), ("BIND", "8080"), ("MAX_ANIMATION_FRAMES", "0"),
        ] {
            #expect(container.problems(["IMGPROXY_" + name: value]).count == 1, "\(name)=\(value)")
        }
    }

    @Test func `presets of the settings file are checked at the start`() {
        let arguments = ["--config", "x", "--imgproxy-path", "/"]
        #expect(throws: Never.self) { try load(arguments, file: "{ presets: { a: 'w:1/pr:b', b: 'h:2' } }") }
        let failure = #expect(throws: SettingsLoader.Failure.self) {
            try load(arguments, file: "{ presets: { a: 'w:1/pr:c' } }")
        }
        #expect(failure?.lines.first?.contains("preset a") == true)
    }
}
