import Crypto
import Dialects
import Downloading
import HTTPServing
import HTTPTypes
import Recipes
import Testing
import Text
import ThumbnailAPI
import ThumbnailPipeline

@testable import Settings

/// Settings of the dialect of thumbor and imagor, and imagor's environment variables.
struct ThumborSettingsTests {
    private func load(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Settings {
        try SettingsLoader.load(arguments: arguments, environment: environment) { _ in "{}" }
    }

    private let container = ForeignContainer(service: "imagor", base: ["IMAGOR_UNSAFE": "1"])

    @Test func `the dialect is off until it has a path`() throws {
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
            "HTTP_LOADER_PROXY_URLS": "http://proxy:3128",
        ])
        let thumbor = settings.dialects.thumbor
        #expect(thumbor.key == Array("geheim".utf8) && thumbor.signer == .sha256 && thumbor.signatureLength == 40)
        #expect(thumbor.servesUnsafe == true && thumbor.prefix?.path == "/img" && thumbor.quality == 75)
        #expect(thumbor.automaticFormats == [.avif, .webp] && thumbor.disabledFilters == ["blur", "label"])
        #expect(settings.publicListener.port == 8_000 && settings.downloads.maximumBytes == 1_000_000)
        #expect(settings.api.requestTimeout == .seconds(30) && settings.downloads.proxy?.host == "proxy")
        #expect(settings.otherServiceVariables.allSatisfy { if case .applied = $0.meaning { true } else { false } })
        let own = try container(["IMAGOR_SECRET": "their", "PORT": "8000"], ["--thumbor-key", "our", "--port", "81"])
        #expect(own.dialects.thumbor.key == Array("our".utf8) && own.publicListener.port == 81)
    }

    @Test func `addresses without a scheme get imagor's`() throws {
        #expect(try container([:]).dialects.thumbor.baseURL == "https://")
        #expect(try container(["HTTP_LOADER_DEFAULT_SCHEME": "http"]).dialects.thumbor.baseURL == "http://")
        let both = ["HTTP_LOADER_DEFAULT_SCHEME": "http", "HTTP_LOADER_BASE_URL": "https://a.example/b"]
        #expect(try container(both).dialects.thumbor.baseURL == "https://a.example/b/")
        #expect(try load(["--thumbor-base-url", "https://h"]).dialects.thumbor.baseURL.text == "https://h/")
        #expect(throws: SettingsLoader.Failure.self) { try load(["--thumbor-base-url", "media"]) }
    }

    @Test func `unsupported variables are named, and others must have valid values`() throws {
        let variables = try container([
            "GCLOUD_STORAGE_BUCKET": "a", "FILE_STORAGE_BASE_DIR": "/b", "HOME": "/root", "VIPS_CONCURRENCY": "2",
            "IMAGOR_DISABLE_ERROR_BODY": "1", "HTTP_LOADER_INSECURE_SKIP_VERIFY_TRANSPORT": "0",
        ]).otherServiceVariables
        func names(_ meaning: OtherServiceVariable.Meaning) -> [String] {
            variables.filter { $0.meaning == meaning }.map(\.name)
        }
        #expect(names(.unsupported) == ["FILE_STORAGE_BASE_DIR", "GCLOUD_STORAGE_BUCKET"])
        #expect(
            names(.ignored) == [
                "HTTP_LOADER_INSECURE_SKIP_VERIFY_TRANSPORT", "IMAGOR_DISABLE_ERROR_BODY", "VIPS_CONCURRENCY",
            ])
        #expect(
            container.problems(["IMAGOR_UNSAFE": "maybe"]) == [
                "IMAGOR_UNSAFE: invalid value \"maybe\"; expected true or false"
            ])
        #expect(container.problems(["IMAGOR_SIGNER_TYPE": "md5"]).count == 1)
    }

    @Test func `a secret closes Alula's own routes, and so do variables that restrict targets`() throws {
        #expect(try container([:]).api.closedDialects.isEmpty)
        for (name, value) in [
            ("IMAGOR_SECRET", "geheim"), ("VIPS_DISABLE_FILTERS", "blur"), ("VIPS_DISABLE_BLUR", "1"),
            ("VIPS_MAX_FILTER_OPS", "3"),
        ] {
            let settings = try container([name: value])
            #expect(settings.api.closedDialects == ["native"], "\(name)")
            #expect(settings.api.signingKeys.isEmpty)
            let opened = try container([name: value], ["--unsigned-dialects", "native"])
            #expect(opened.api.closedDialects.isEmpty, "\(name)")
        }
        for (name, value) in [("VIPS_DISABLE_BLUR", "0"), ("VIPS_MAX_FILTER_OPS", "-1"), ("IMAGOR_UNSAFE", "1")] {
            #expect(try container([name: value]).api.closedDialects.isEmpty, "\(name)")
        }
        #expect(try load(["--thumbor-key", "key"]).api.closedDialects == ["native"])
        #expect(try load(["--thumbor-key", "key", "--wsrv-path", "/w"]).api.closedDialects == ["native", "wsrv"])
        let unsafe = ["--thumbor-key", "key", "--thumbor-unsafe", "on", "--thumbor-path", "/"]
        #expect(try load(unsafe).api.closedDialects == ["native"])
        #expect(throws: SettingsLoader.Failure.self) { try load(["--unsigned-dialects", "thumbnail"]) }
    }

    @Test func `imagor's restrictions apply, or stop the start by the variable's name`() throws {
        let settings = try container([
            "HTTP_LOADER_BLOCK_NETWORKS": "8.8.8.0/24, 2606:4700::/32", "HTTP_LOADER_BLOCK_PRIVATE_NETWORKS": "1",
            "VIPS_MAX_FILTER_OPS": "3", "VIPS_MAX_WIDTH": "4000", "VIPS_MAX_HEIGHT": "3000",
        ])
        let policy = settings.downloads.addressPolicy
        #expect(!policy.allows(try #require(IPAddress("8.8.8.8")), port: 443, localAddresses: []))
        #expect(policy.allows(try #require(IPAddress("8.8.4.4")), port: 443, localAddresses: []))
        #expect(settings.dialects.thumbor.maximumFilters == 3)
        #expect(settings.pipeline.rules.limits.maximumSourcePixels == 12_000_000)
        let url = try SourceURL(parsing: "https://example.com/a")
        #expect(try container(["HTTP_LOADER_DISABLE": "0"]).downloads.allows(url))
        let disabled = ["HTTP_LOADER_DISABLE": "true", "HTTP_LOADER_ALLOWED_SOURCES": "example.com"]
        #expect(try !container(disabled).downloads.allows(url))
        #expect(try container(disabled, ["--allowed-sources", "example.com"]).downloads.allows(url))
        for name in ["HTTP_LOADER_ALLOWED_SOURCE_REGEXP", "IMAGOR_BASE_PARAMS", "CONFIG"] {
            let lines = container.problems([name: "x"])
            #expect(lines.count == 1 && lines[0].hasPrefix(name + ":"), "\(name)")
        }
        #expect(container.problems(["HTTP_LOADER_BLOCK_NETWORKS": "all"]).count == 1)
    }

    @Test func `a blocked network is part of the policy in the keys of stored results`() throws {
        let policies = [
            [:], ["HTTP_LOADER_BLOCK_NETWORKS": "8.8.8.0/24"], ["HTTP_LOADER_DISABLE": "1"],
            ["HTTP_LOADER_ALLOWED_SOURCES": "h"],
        ]
        #expect(Set(try policies.map { try container($0).downloads.policyText }).count == policies.count)
    }

    @Test func `cache lifetimes are written as Go writes durations`() throws {
        func ages(_ environment: [String: String]) throws -> [Int?] {
            let thumbor = try container(environment).dialects.thumbor
            return [thumbor.maximumAge, thumbor.staleAge]
        }
        #expect(try ages([:]) == [nil, nil])
        #expect(
            try ages(["IMAGOR_CACHE_HEADER_TTL": "168h", "IMAGOR_CACHE_HEADER_SWR": "1h30m"]) == [604_800, 5_400])
        #expect(try ages(["IMAGOR_CACHE_HEADER_TTL": "1.5s", "IMAGOR_CACHE_HEADER_SWR": "24h"]) == [1, nil])
        #expect(try ages(["IMAGOR_CACHE_HEADER_TTL": "0", "IMAGOR_CACHE_HEADER_SWR": "1h"]) == [0, nil])
        #expect(try ages(["IMAGOR_CACHE_HEADER_TTL": "-1s"]) == [0, nil])
        #expect(try ages(["IMAGOR_CACHE_HEADER_TTL": "1h", "IMAGOR_CACHE_HEADER_NO_CACHE": "1"]) == [0, nil])
        for wrong in ["a week", "1d", "5", "h", "1e9h", "99999999999999h"] {
            #expect(container.problems(["IMAGOR_CACHE_HEADER_TTL": wrong]).count == 1, "\(wrong)")
        }
        #expect(try container(["IMAGOR_REQUEST_TIMEOUT": "1m30s"]).api.requestTimeout == .seconds(90))
    }

    @Test func `imagor's bucket and folder are origins of images without a scheme`() throws {
        let keys = ["AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "eu-central-1"]
        let bucket = try container(keys.merging(["S3_LOADER_BUCKET": "media", "S3_LOADER_BASE_DIR": "/a/"]) { $1 })
        #expect(bucket.dialects.thumbor.baseURL == "imagor-s3:")
        let origin = try #require(bucket.dialects.origins.first)
        #expect("\(origin.location)".contains("https://media.s3.eu-central-1.amazonaws.com/a"))
        guard case .signature? = origin.credentials else {
            Issue.record("requests are not signed")
            return
        }
        let endpoint = try container(
            keys.merging(["S3_LOADER_BUCKET": "media", "S3_ENDPOINT": "http://minio:9000/"]) { $1 })
        #expect("\(try #require(endpoint.dialects.origins.first).location)".contains("http://minio:9000/media"))
        let own = try container([
            "S3_LOADER_BUCKET": "media", "S3_LOADER_ENDPOINT": "http://minio:9000", "S3_ENDPOINT": "http://other",
            "AWS_LOADER_ACCESS_KEY_ID": "id", "AWS_LOADER_SECRET_ACCESS_KEY": "secret", "AWS_LOADER_REGION": "x",
        ])
        #expect("\(try #require(own.dialects.origins.first).location)".contains("http://minio:9000/media"))
        #expect(container.problems(["S3_LOADER_BUCKET": "media"]).first?.hasPrefix("S3_LOADER_BUCKET: ") == true)
        for name in ["S3_LOADER_PATH_PREFIX", "S3_STORAGE_BUCKET", "S3_RESULT_STORAGE_BUCKET"] {
            #expect(container.problems([name: "pre"]).first?.hasPrefix("\(name): ") == true)
        }
        let folder = try container(["FILE_LOADER_BASE_DIR": "/usr"])
        #expect(folder.dialects.thumbor.baseURL == "imagor-files:" && folder.dialects.origins.count == 1)
        #expect(container.problems(["FILE_LOADER_BASE_DIR": "/missing"]).count == 1)
    }

    @Test func `thumbor's variables have Python's values`() throws {
        let thumbor = ForeignContainer(service: "thumbor")
        let settings = try thumbor([
            "SECURITY_KEY": "'geheim'", "ALLOW_UNSAFE_URL": "False", "QUALITY": "70", "AUTO_WEBP": "True",
            "MAX_AGE": "60", "ALLOWED_SOURCES": #"['s.example.com', '.+\.example\.org']"#, "MAX_PIXELS": "75e6",
            "HTTP_LOADER_REQUEST_TIMEOUT": "20", "ENGINE": "thumbor.engines.pil", "DETECTORS": "[]",
            "RESULT_STORAGE": "thumbor_aws.result_storage", "THUMBOR_PORT": "8000", "HOME": "/root",
        ])
        let dialect = settings.dialects.thumbor
        #expect(dialect.key == Array("geheim".utf8) && dialect.servesUnsafe == false && dialect.quality == 70)
        #expect(dialect.automaticFormats == [.webp] && dialect.maximumAge == 60 && settings.publicListener.port == 8000)
        #expect(settings.pipeline.rules.limits.maximumSourcePixels == 75_000_000)
        for (url, isAllowed) in [
            ("https://s.example.com/a", true), ("http://a.example.org/a", true), ("https://example.com/a", false),
            ("http://s.example.com:9000/a", true),
        ] { #expect(settings.downloads.allows(try SourceURL(parsing: url)) == isAllowed, "\(url)") }
        func names(_ meaning: OtherServiceVariable.Meaning) -> [String] {
            settings.otherServiceVariables.filter { $0.meaning == meaning }.map(\.name)
        }
        #expect(names(.unsupported) == ["RESULT_STORAGE"] && names(.ignored) == ["DETECTORS", "ENGINE"])
    }

    @Test func `thumbor serves unsafe URLs beside its key unless a setting disables it`() throws {
        let thumbor = ForeignContainer(service: "thumbor")
        #expect(try thumbor(["SECURITY_KEY": "geheim"]).dialects.thumbor.servesUnsafe == true)
        #expect(try thumbor([:]).dialects.thumbor.servesUnsafe == nil)
        #expect(try thumbor([:]).api.closedDialects.isEmpty)
        for key in ["", "None", "''"] {
            let lines = thumbor.problems(["SECURITY_KEY": key])
            #expect(lines.count == 1 && lines[0].hasPrefix("SECURITY_KEY: invalid value"), "\(key)")
        }
    }

    @Test func `a closed service without a key stops the start, unless a setting has one`() throws {
        let closed: [(service: String, environment: [String: String], name: String)] = [
            ("thumbor", ["ALLOW_UNSAFE_URL": "False"], "ALLOW_UNSAFE_URL"),
            ("imagor", ["IMAGOR_UNSAFE": "0"], "IMAGOR_SECRET"), ("imagor", [:], "IMAGOR_SECRET"),
        ]
        for (service, environment, name) in closed {
            let container = ForeignContainer(service: service)
            let lines = container.problems(environment)
            #expect(lines.count == 1 && lines[0].hasPrefix(name + ":"), "\(service) \(environment)")
            let keyed = try container(environment, ["--thumbor-key", "geheim"])
            #expect(keyed.api.closedDialects == ["native"] && keyed.dialects.thumbor.servesUnsafe == false)
            #expect(try container(environment, ["--thumbor-unsafe", "on"]).dialects.thumbor.servesUnsafe == true)
        }
    }

    @Test func `thumbor's loaders are schemes or a folder, and others stop the start`() throws {
        let thumbor = ForeignContainer(service: "thumbor")
        #expect(try thumbor(["LOADER": "thumbor.loaders.https_loader"]).dialects.thumbor.baseURL == "https://")
        let file = try thumbor(["LOADER": "thumbor.loaders.file_loader", "FILE_LOADER_ROOT_PATH": "/usr"])
        #expect(file.dialects.thumbor.baseURL == "thumbor-files:" && file.dialects.origins.count == 1)
        let (plain, secure) = (
            try SourceURL(parsing: "http://s.example.com/a"), try SourceURL(parsing: "https://s.example.com/a")
        )
        #expect(!file.downloads.allows(secure))
        for (sources, isAllowed) in [("", true), ("['s.example.com']", true), ("['example.org']", false)] {
            let strict = try thumbor(["LOADER": "thumbor.loaders.strict_https_loader", "ALLOWED_SOURCES": sources])
            #expect(strict.downloads.allows(secure) == isAllowed && !strict.downloads.allows(plain), "\(sources)")
        }
        for environment in [
            ["LOADER": "thumbor_aws.loader"], ["LOADER": "thumbor.loaders.file_loader"],
            ["ALLOWED_SOURCES": "['(a|b).example.com']"], ["AUTO_WEBP": "maybe"],
        ] { #expect(thumbor.problems(environment).count == 1, "\(environment)") }
        #expect(try thumbor(["ALLOWED_SOURCES": "['*']"]).downloads.allowedSources.isEmpty)
    }

    @Test func `variables are shown with their settings`() throws {
        let reading = try #require(
            SettingsLoader.otherServiceReading(
                arguments: ["--environment-of", "imagor"],
                environment: [
                    "IMAGOR_SECRET": "geheim", "PORT": "8000", "VIPS_DISABLE_FILTERS": "blur", "VIPS_CONCURRENCY": "1",
                    "FILE_STORAGE_BASE_DIR": "/a", "CONFIG": "/x",
                ]
            ) { _ in "{}" })
        #expect(
            OtherServiceVariable.lines(reading.variables) == [
                "FILE_STORAGE_BASE_DIR  → ignored; not supported", "IMAGOR_SECRET          → thumborKey",
                "PORT                   → port", "VIPS_CONCURRENCY       → ignored; not needed by Alula",
                "VIPS_DISABLE_FILTERS   → applied; no setting has this effect",
            ])
        #expect(reading.problems.count == 1)
        #expect(SettingsLoader.otherServiceReading(arguments: [], environment: [:]) { _ in "{}" } == nil)
    }
}
