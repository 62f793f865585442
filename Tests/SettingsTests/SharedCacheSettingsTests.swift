import Downloading
import HTTPTypes
import Recipes
import SharedCaching
import TestSupport
import Testing
import Text
import ThumbnailPipeline

@testable import Settings

struct SharedCacheSettingsTests {
    private func load(
        _ arguments: [String], environment: [String: String] = [:], file: String = "{}"
    ) throws -> Settings {
        try SettingsLoader.load(arguments: arguments, environment: environment, readFile: { _ in file })
    }

    @Test func `a shared cache exists only if a setting names it`() throws {
        #expect(try load([]).sharedCacheConfiguration == nil)
        var settings = try load([
            "--shared-cache", "rediss://cache:6380/2", "--shared-cache-timeout", "20ms", "--shared-cache-authorities",
            "/ca.pem", "--shared-cache-sources", "on", "--instance-name", "alula-1",
        ])
        let configuration = try #require(settings.sharedCacheConfiguration)
        #expect(configuration.address == SharedCacheAddress("rediss://cache:6380/2"))
        #expect(configuration.store.timeout == .milliseconds(20) && configuration.authorities == "/ca.pem")
        #expect(configuration.requestTimeout == settings.pipeline.requestTimeout)
        #expect(settings.sharedCache.sharesSources && settings.sharedCache.instance == "alula-1")
        #expect(!configuration.store.isReadOnly)
        settings.disk.mode = .ephemeral
        settings.pipeline.requestTimeout = .milliseconds(10)
        #expect(settings.sharedCacheConfiguration?.store.isReadOnly == true)
        #expect(settings.sharedCacheConfiguration?.store.timeout == .milliseconds(10), "no longer than a request")
        #expect(try !load([]).sharedCache.instance.isEmpty)
    }

    @Test(arguments: ["folder: '/a'", SharedCacheSettingsTests.bucket])
    func `results are stored at a writable named origin`(place: String) throws {
        let origins = "origins: { kept: { \(place), write: true }, other: { \(place) } }"
        let environment = ["SET": "value", "ALULA_SHARED_CACHE_KEY": String(repeating: "ab", count: 16)]
        func store(_ members: String, _ arguments: [String] = []) throws -> Settings {
            try load(["--config", "x"] + arguments, environment: environment, file: "{ \(members), \(origins) }")
        }
        let settings = try store("resultStore: 'kept', resultStoreTimeout: '1s'")
        #expect(settings.resultStore.origin == "kept")
        #expect(settings.resultStoreConfiguration.timeout == .seconds(1))
        #expect(settings.resultStoreConfiguration.key?.count == 16)
        #expect(!settings.resultStoreConfiguration.isReadOnly)
        let ephemeral = try store("resultStore: 'kept'", ["--session-mode", "ephemeral"])
        #expect(ephemeral.resultStoreConfiguration.isReadOnly)
        for wrong in ["other", "none", "http", ""] {
            let failure = #expect(throws: SettingsLoader.Failure.self) { try store("resultStore: '\(wrong)'") }
            #expect(failure?.lines.contains { $0.contains("with write in the settings file") } == true)
        }
        #expect(throws: SettingsLoader.Failure.self) { try store("resultStoreTimeout: '0s'") }
    }

    private static let bucket = """
        url: 'https://kept.example/', credentials: { s3: {
            region: 'eu', accessKey: { env: 'SET' }, secretKey: { env: 'SET' } } }
        """

    @Test func `user and password are in no URL and no description`() throws {
        let environment = ["ALULA_SHARED_CACHE_USER": "alula", "ALULA_SHARED_CACHE_PASSWORD": "secret"]
        let settings = try load(["--shared-cache", "redis://cache"], environment: environment)
        let credentials = try #require(settings.sharedCacheConfiguration?.credentials)
        #expect(credentials.user == "alula" && credentials.password == "secret")
        #expect(!"\(settings.sharedCache)".contains("secret"))
        let failure = #expect(throws: SettingsLoader.Failure.self) {
            try load(["--shared-cache", "redis://alula:secret@cache"])
        }
        #expect(failure?.lines.count == 1 && failure?.lines[0].contains("alula:secret") == false)
        #expect(try load([], environment: ["ALULA_SHARED_CACHE_USER": ""]).sharedCache.credentials.user == nil)
    }

    @Test func `credentials of the shared cache may be named by variables and files`() throws {
        let folder = TemporaryFolder()
        folder.write("key", Array((String(repeating: "ab", count: 16) + "\n").utf8))
        let file =
            "{ sharedCache: 'redis://cache', sharedCacheUser: 'alula', sharedCachePassword: { env: 'REDIS' },"
            + " sharedCacheKey: { file: '\(folder.path)/key' } }"
        let settings = try load(["--config", "x"], environment: ["REDIS": "secret"], file: file)
        let credentials = try #require(settings.sharedCacheConfiguration?.credentials)
        #expect(credentials.user == "alula" && credentials.password == "secret" && credentials.key?.count == 16)
    }

    @Test func `the key must be valid`() throws {
        let text = String(repeating: "0aF", count: 22)
        let settings = try load(["--shared-cache", "redis://cache"], environment: ["ALULA_SHARED_CACHE_KEY": text])
        #expect(settings.sharedCacheConfiguration?.credentials.key?.count == 33)
        #expect(!"\(settings.sharedCache)".contains("175"))
        for wrong in ["0a0", "secret", String(repeating: "0a", count: 15), String(repeating: "0a", count: 129)] {
            let failure = #expect(throws: SettingsLoader.Failure.self) {
                try load([], environment: ["ALULA_SHARED_CACHE_KEY": wrong])
            }
            #expect(failure?.lines.count == 1 && failure?.lines[0].contains(wrong) == false)
        }
    }

    @Test(arguments: [
        ("--shared-cache", "cache:6379"), ("--shared-cache-timeout", "0ms"), ("--shared-cache-timeout", "2s"),
        ("--shared-cache-sources", "maybe"), ("--instance-name", "a b"), ("--instance-name", ""),
        ("--shared-cache-authorities", ""),
    ])
    func `invalid values stop the start`(flag: String, value: String) {
        #expect(throws: SettingsLoader.Failure.self) { try load([flag, value]) }
    }

    /// Changes of settings that can change responses, by name.
    private static var changes: [(name: String, change: (inout Settings) -> Void)] {
        var changes: [(name: String, change: (inout Settings) -> Void)] = []
        func add(_ name: String, _ change: @escaping (inout Settings) -> Void) { changes.append((name, change)) }
        add("policy") { $0.downloads.allowedPorts = [443] }
        add("bytes") { $0.downloads.maximumBytes += 1 }
        add("networks") { $0.downloads.allowedNetworks = [AddressNetwork("127.0.0.0/8")].compactMap(\.self) }
        add("sources") { $0.downloads.allowedSources = [SourcePattern("https://*.example.com/*")].compactMap(\.self) }
        add("redirects") { $0.downloads.maximumRedirects += 1 }
        add("loop") { $0.loopName = "other" }
        add("key") { $0.sharedCache.credentials.key = [1] }
        add("agent") { $0.downloads.userAgent += "x" }
        add("formats") { $0.pipeline.rules.limits.sourceFormats.remove(.gif) }
        add("source pixels") { $0.pipeline.rules.limits.maximumSourcePixels -= 1 }
        add("output pixels") { $0.pipeline.rules.limits.maximumOutputPixels -= 1 }
        add("slow pixels") { $0.pipeline.rules.limits.maximumOutputPixelsSlow -= 1 }
        add("frames") { $0.pipeline.rules.limits.maximumFrames -= 1 }
        add("incomplete") { $0.pipeline.rules.limits.incompleteImages = .serve }
        add("automatic") { $0.pipeline.rules.automaticFormats = [.avif, .webp] }
        add("order") { $0.pipeline.rules.automaticFormats = [.webp, .avif] }
        add("effort") { $0.pipeline.rules.efforts[.webp] = 1 }
        add("scans") { $0.pipeline.rules.efforts[.jpeg] = 3 }
        add("light") { $0.pipeline.rules.light = .gamma }
        add("similarity") { $0.pipeline.rules.similarity.minimum -= 1 }
        add("lowest") { $0.pipeline.rules.similarity.lowest += 1 }
        add("authorities") { $0.downloads.certificateAuthorities = "/ca.pem" }
        return changes
    }

    @Test func `every setting that can change a response changes the digest, and it is the same in each process`() {
        func digest(_ change: (inout Settings) -> Void = { _ in }, versions: String = "1") -> String {
            var settings = Settings()
            change(&settings)
            // Cache keys contain both texts.
            return settings.responseDigest(settings.pipeline, versions: versions) + settings.downloads.policyText
        }
        var digests = Set([digest(), digest(versions: "2")])
        // Release, revision, and the version of each library.
        let versions = "alula 1.2.0 (0123abc), libvips 8.14.1, libwebp 10204, zlib 1.2.13"
        let other = ["1.2.0", "0123abc", "8.14.1", "10204", "1.2.13"].map { versions.replacing($0, with: "9") }
        #expect(Set(([versions] + other).map { digest(versions: $0) }).count == 6)
        for (name, change) in Self.changes {
            let (isNew, _) = digests.insert(digest(change))
            #expect(isNew, "\(name)")
        }
        #expect(digests.count == Self.changes.count + 2)
        // Settings that do not change responses: capacities and speeds.
        #expect(
            digest {
                $0.pipeline.resultCacheCapacity += 1
                $0.renderWorkers += 1
                $0.downloads.staleAllowances.ifError += 1
            } == digest())
        // The iteration order of a set differs between processes.
        #expect(
            digest { $0.pipeline.rules.limits.sourceFormats = [.png, .gif, .jpeg] }
                == digest { $0.pipeline.rules.limits.sourceFormats = [.jpeg, .png, .gif] })
    }

    @Test func `keys describe the settings in text`() throws {
        var settings = Settings()
        settings.downloads.allowedNetworks = [AddressNetwork("10.0.0.0/8"), AddressNetwork("fd00::/8")].compactMap(
            \.self)
        settings.downloads.deniedNetworks = [AddressNetwork("8.8.8.8")].compactMap(\.self)
        settings.downloads.allowedSources = [
            SourcePattern("https://*.example.com/*"), SourcePattern(prefix: "https://example.org/a"),
        ].compactMap(\.self)
        #expect(
            settings.downloads.policyText == """
                allowedNetworks 10.0.0.0/8 fd00::/8
                deniedNetworks 8.8.8.8/32
                allowedSources pattern:https://*.example.com/* beginning:https://example.org/a
                allowedPorts 80 443
                """)
        settings.downloads.allowsUnnamedSources = false
        #expect(settings.downloads.policyText.contains("\nallowedSources named\n"))

        settings = Settings()
        settings.pipeline.rules.limits.sourceFormats = [.png, .jpeg]
        settings.pipeline.rules.automaticFormats = [.webp, .avif]
        let lines = settings.responseKeyText(settings.pipeline, versions: "alula 1").split(separator: "\n")
        let agent = settings.downloads.userAgent
        #expect(lines[0] == "engine 7:alula 1" && agent.hasPrefix("Alula/"))
        #expect(lines[1...3] == ["names 0:", "sourceFormats 8:jpeg,png", "autoFormats 9:webp,avif"])
        #expect(lines[4].contains("jpeg=2,") && lines[4].hasPrefix("efforts "))
        #expect(
            lines[5...] == [
                "resample 6:linear", "autoQuality 10:9800,40,90", "maxSourcePixels 9:100000000",
                "maxOutputPixels 8:25000000", "maxOutputPixelsSlow 7:6000000", "maxFrames 3:256",
                "incompleteImages 6:refuse", "maxSourceBytes 8:67108864", "maxRedirects 1:5", "cdnLoop 5:alula",
                "userAgent \(agent.utf8.count):\(agent)",
                "accept 76:image/avif,image/webp,image/png,image/jpeg,image/gif,image/*;q=0.8,*/*;q=0.1",
                "authorities 0:",
            ])
    }

    @Test func `a prefix and a pattern of the same text are different rules in keys`() {
        func text(_ pattern: SourcePattern?) -> String {
            var settings = Settings()
            settings.downloads.allowedSources = [pattern].compactMap(\.self)
            return settings.downloads.policyText
        }
        let pattern = "https://example.com/a*"
        #expect(text(SourcePattern(pattern)) != text(SourcePattern(prefix: pattern)))
    }

    @Test func `a source is shared if it may be fetched and is the same on every machine`() throws {
        var settings = Settings()
        settings.downloads.allowedSources = [SourcePattern("https://example.com/*")].compactMap(\.self)
        let base = try SourceURL(parsing: "https://images.example.com/a/")
        settings.downloads.origins = Origins([
            Origin(name: "web", location: .web(base: base)), Origin(name: "local", location: .folder(path: "/images")),
        ])
        for (source, isShared) in [
            ("https://example.com/a", true), ("https://example.org/a", false), ("web:b.jpg", true),
            ("local:b.jpg", false),
        ] as [(ExactText, Bool)] {
            let identity = try DownloadRules(settings.downloads).identity(of: source)
            #expect(identity.rules.mayShare(identity.url) == isShared, "\(source)")
        }
    }
}
