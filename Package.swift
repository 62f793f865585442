// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .strictMemorySafety(),
    // Other compilers and SDKs, with which apps build the client, may warn of more.
    .treatAllWarnings(as: .error, .when(platforms: [.linux])),
]

/// A Swift module of the service.
func module(_ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
}

/// A module map for a C library that Debian packages.
func library(_ name: String, pkgConfig: String, package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/C/" + name, pkgConfig: pkgConfig, providers: [.apt([package])])
}

/// Typed C functions for what Swift cannot call in a library: variadic functions, macros, unions.
func shim(
    _ name: String, _ dependencies: [Target.Dependency] = [], in folder: String = "Sources/C", exclude: [String] = [],
    flags: [String] = [], linking libraries: [String] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, path: folder + "/" + name, exclude: exclude,
        cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror"] + flags)],
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

/// The tests of one module, or those across modules.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings, linkerSettings: linking)
}

/// What `make fuzz` links its targets with; nobody else needs it.
let fuzzing: [Product] =
    Context.environment["ALULA_FUZZING"] == nil
    ? []
    : [
        .library(
            name: "Fuzzed", type: .static,
            targets: [
                "CJPEGReference", "Dialects", "Downloading", "HTTPTypes", "Imaging", "Memory", "Recipes", "Text",
                "ThumbnailAPI",
            ])
    ]

/// The test targets to build, all but for quick turns at one of them: `TEST_TARGETS=ImagingTests,alulaTests`.
let chosenTests = Context.environment["TEST_TARGETS"].map { $0.split(separator: ",").map(String.init) }

/// The allocator of the service, which the sanitizers bring one of their own for.
let allocator: [LinkerSetting] = Context.environment["SANITIZING"] == nil ? [.linkedLibrary("jemalloc")] : []

/// Of an executable: Pango finds a function of CSVGShim, and the allocator one of CLinux.
let linking: [LinkerSetting] =
    ["hb_blob_create_from_file", "mmap"].map {
        .unsafeFlags(["-Xlinker", "--export-dynamic-symbol=\($0)"])
    } + allocator

let package = Package(
    name: "alula",
    // Of the client; the service runs on Linux.
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .executable(name: "alula", targets: ["alula"]), .library(name: "AlulaClient", targets: ["AlulaClient"]),
        .library(name: "AlulaImages", targets: ["AlulaImages"]),
    ] + fuzzing,
    targets: [
        // Loaded when it is first used, so the program is not linked with it.
        .systemLibrary(name: "CVips", path: "Sources/C/CVips", providers: [.apt(["libvips-dev"])]),
        library("CGIO", pkgConfig: "gio-2.0", package: "libglib2.0-dev"),
        library("CLibjpeg", pkgConfig: "libjpeg", package: "libjpeg62-turbo-dev"),
        library("CWebP", pkgConfig: "libwebp", package: "libwebp-dev"),
        library("CAOM", pkgConfig: "aom", package: "libaom-dev"),
        library("CDav1d", pkgConfig: "dav1d", package: "libdav1d-dev"),
        library("CDe265", pkgConfig: "libde265", package: "libde265-dev"),
        library("CJXL", pkgConfig: "libjxl", package: "libjxl-dev"),
        library("CBrotli", pkgConfig: "libbrotlidec", package: "libbrotli-dev"),
        library("CDeflate", pkgConfig: "libdeflate", package: "libdeflate-dev"),
        library("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
        library("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
        library("CCares", pkgConfig: "libcares", package: "libc-ares-dev"),
        library("CMicrohttpd", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
        library("CHiredis", pkgConfig: "hiredis", package: "libhiredis-dev"),
        library("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
        library("CLibcrypto", pkgConfig: "libcrypto", package: "libssl-dev"),
        library("CIdn2", pkgConfig: "libidn2", package: "libidn2-dev"),
        library("CLibssl", pkgConfig: "libssl", package: "libssl-dev"),
        library("CSeccomp", pkgConfig: "libseccomp", package: "libseccomp-dev"),
        shim("CLinux"),
        // Its language version has `#embed`.
        shim("CEmbeddedFiles", exclude: ["pages"], flags: ["-std=c23"]),
        shim("CSeccompShim", ["CSeccomp"]),
        shim("CPixels", flags: ["-O2", "-ffp-contract=off", "-fno-math-errno"]),
        // Optimized in debug builds, too, whose tests decode thousands of images.
        shim("CFaces", flags: ["-O2", "-ffp-contract=off"]),
        shim("CJPEG", ["CPixels"], flags: ["-O2", "-ffp-contract=off"]),
        shim("CPNG", ["CDeflate", "CPixels", "CZlib"], flags: ["-O2", "-ffp-contract=off"]),
        shim("CLightResampling", flags: ["-O2", "-ffp-contract=off", "-fno-math-errno"]),
        shim("CCodedImages", ["CDav1d", "CDe265"], flags: ["-O2", "-ffp-contract=off"]),
        shim("CAOMShim", ["CAOM"], flags: ["-O2"]),
        shim(
            "CVipsShim", ["CGIO", "CLightResampling", "CLinux", "CPixels", "CVips"], flags: ["-ffp-contract=off"],
            linking: ["gmodule-2.0"]),
        shim(
            "CPlanar", ["CJPEG", "CJXL", "CLibjpeg", "CLightResampling", "CPixels", "CWebP"],
            flags: ["-ffp-contract=off"]),
        // The libraries for drawings are loaded for the first one, too: pkg-config would link the program with them.
        shim(
            "CSVGShim", ["CGIO", "CLinux"],
            flags: ["cairo", "freetype2", "gdk-pixbuf-2.0", "harfbuzz", "librsvg-2.0", "pango-1.0"].map {
                "-isystem/usr/include/\($0)"
            }),
        shim("CCurlShim", ["CCurl", "CCares", "CLibssl"]),
        shim("CHiredisShim", ["CHiredis", "CLibssl"]),
        shim("CMicrohttpdShim", ["CMicrohttpd"]),

        module("AlulaClient"),
        module("AlulaImages", ["AlulaClient"]),

        // The documentation, which the plugin makes from docs/.
        .plugin(name: "BookBuilder", capability: .buildTool(), path: "Sources/BookBuilder"),
        .target(
            name: "Book", dependencies: ["CZlib", "Crypto", "Memory"], swiftSettings: settings,
            plugins: ["BookBuilder"]),
        module("Memory", ["CLinux"]),
        module("Text"),
        module("JSON", ["Text"]),
        module("Crypto", ["CLibcrypto", "Text"]),
        module("HTTPTypes", ["Coordination", "Memory", "Text"]),
        module("Coordination", ["CLinux"]),
        module("Telemetry", ["Coordination", "JSON", "Text"]),
        module("DiskCaching", ["CSQLite", "Coordination", "Crypto", "Memory", "Telemetry"]),
        module(
            "SharedCaching",
            ["CHiredis", "CHiredisShim", "CLibssl", "Coordination", "Crypto", "Memory", "Telemetry", "Text"]),
        module("Recipes", ["Memory", "Text"]),
        module(
            "Imaging",
            [
                "CAOMShim", "CCodedImages", "CFaces", "CJPEG", "CLinux", "CPNG", "CPixels", "CPlanar",
                "CSVGShim", "CVips", "CVipsShim", "Coordination", "Memory", "Recipes", "Text",
            ]),
        module(
            "ImageSandbox",
            ["CLinux", "CSeccompShim", "Coordination", "Crypto", "Imaging", "Memory", "Recipes", "Telemetry"]),
        module(
            "Downloading",
            [
                "CBrotli", "CCurl", "CCares", "CCurlShim", "CIdn2", "CZlib", "Coordination", "Crypto", "HTTPTypes",
                "JSON", "Memory", "Text",
            ]),
        module("ThumbnailTypes", ["Coordination", "Crypto", "HTTPTypes", "Memory", "Recipes", "Telemetry", "Text"]),
        module(
            "Webhooks",
            ["Coordination", "Downloading", "HTTPTypes", "JSON", "Telemetry", "Text", "ThumbnailTypes"]),
        module("Dialects", ["Crypto", "HTTPTypes", "JSON", "Recipes", "Text", "ThumbnailTypes"]),
        module(
            "ThumbnailPipeline",
            [
                "Coordination", "Crypto", "DiskCaching", "Downloading", "HTTPTypes", "Imaging", "Memory", "Recipes",
                "SharedCaching", "Telemetry", "Text", "ThumbnailTypes", "Webhooks",
            ]),
        module(
            "Prefetching",
            [
                "Coordination", "DiskCaching", "Downloading", "HTTPTypes", "Telemetry", "Text", "ThumbnailPipeline",
                "ThumbnailTypes", "Webhooks",
            ]),
        module(
            "ThumbnailAPI",
            [
                "Book", "CEmbeddedFiles", "Coordination", "Crypto", "Dialects", "Downloading", "HTTPTypes",
                "JSON", "Memory", "Prefetching", "Recipes", "Telemetry", "Text", "ThumbnailPipeline", "ThumbnailTypes",
                "Webhooks",
            ]),
        module(
            "HTTPServing",
            ["CLinux", "CMicrohttpd", "CMicrohttpdShim", "Coordination", "HTTPTypes", "Memory", "Telemetry", "Text"]),
        .plugin(name: "RevisionBuilder", capability: .buildTool(), path: "Sources/RevisionBuilder"),
        .target(name: "Program", swiftSettings: settings, plugins: ["RevisionBuilder"]),
        module(
            "Settings",
            [
                "Coordination", "Crypto", "Dialects", "DiskCaching", "Downloading", "HTTPServing", "HTTPTypes",
                "ImageSandbox", "JSON", "Memory", "Prefetching", "Program", "Recipes", "SharedCaching", "Telemetry",
                "Text", "ThumbnailAPI", "ThumbnailPipeline", "ThumbnailTypes", "Webhooks",
            ]),
        module(
            "Composition",
            [
                "CLinux", "Coordination", "DiskCaching", "Downloading", "HTTPServing", "HTTPTypes", "ImageSandbox",
                "Imaging", "Memory", "Prefetching", "Program", "Recipes", "Settings", "SharedCaching", "Telemetry",
                "Text", "ThumbnailAPI", "ThumbnailPipeline", "Webhooks",
            ]),
        module(
            "Commands",
            [
                "Composition", "Coordination", "Crypto", "Dialects", "Downloading", "HTTPServing", "HTTPTypes",
                "ImageSandbox", "Imaging", "JSON", "Memory", "Program", "Recipes", "Settings", "Telemetry", "Text",
                "ThumbnailAPI", "ThumbnailPipeline", "ThumbnailTypes",
            ]),
        .executableTarget(
            name: "alula", dependencies: ["Commands"], swiftSettings: settings, linkerSettings: linking),
        .target(name: "Measuring", dependencies: ["Memory"], path: "Benchmarks/Measuring", swiftSettings: settings),
        .executableTarget(
            name: "events", dependencies: ["Telemetry"], path: "Benchmarks/Events", swiftSettings: settings,
            linkerSettings: linking),
        .executableTarget(
            name: "lanes", dependencies: ["Coordination", "Imaging", "Measuring", "Memory", "Recipes", "TestSupport"],
            path: "Benchmarks/Lanes",
            swiftSettings: settings, linkerSettings: linking),
        .executableTarget(
            name: "watermarks",
            dependencies: ["Coordination", "Imaging", "Measuring", "Memory", "Recipes", "TestSupport"],
            path: "Benchmarks/Watermarks",
            swiftSettings: settings, linkerSettings: linking),
        .executableTarget(
            name: "costs", dependencies: ["Coordination", "Imaging", "Measuring", "Memory", "Recipes", "TestSupport"],
            path: "Benchmarks/Costs", swiftSettings: settings, linkerSettings: linking),
        .executableTarget(
            name: "targets", dependencies: ["Dialects", "Measuring", "Text"], path: "Benchmarks/Targets",
            swiftSettings: settings, linkerSettings: linking),
        module(
            "TestSupport",
            [
                "CLibssl", "Coordination", "HTTPTypes", "Imaging", "Memory", "Recipes", "Telemetry", "Text",
                "ThumbnailTypes",
            ],
            path: "Tests/TestSupport"),
        shim("CJPEGReference", ["CLibjpeg"], in: "Tests", flags: ["-O2"]),
        shim("CShortages", ["CLinux"], in: "Tests"),
        .executableTarget(
            name: "fake-origin", dependencies: ["Memory", "Recipes", "TestSupport"],
            path: "Tests/fake-origin",
            swiftSettings: settings),

        tests("AlulaClientTests", ["alula", "AlulaClient", "AlulaImages", "Coordination", "TestSupport"]),
        tests("MemoryTests", ["CLinux", "Memory"]),
        tests("TextTests", ["Text"]),
        tests("JSONTests", ["JSON", "Text"]),
        tests("CryptoTests", ["Crypto"]),
        tests("HTTPTypesTests", ["HTTPTypes"]),
        tests("CoordinationTests", ["Coordination", "TestSupport"]),
        tests("TelemetryTests", ["Coordination", "JSON", "Telemetry", "TestSupport", "Text"]),
        tests("SharedCachingTests", ["Coordination", "Memory", "SharedCaching", "Telemetry", "TestSupport"]),
        tests("DiskCachingTests", ["Coordination", "DiskCaching", "Memory", "Telemetry", "TestSupport"]),
        tests("RecipesTests", ["Recipes", "TestSupport"]),
        tests(
            "ImagingTests",
            [
                "CJPEGReference", "CPlanar", "CVips", "CVipsShim", "CZlib", "Coordination", "Crypto", "Imaging",
                "Memory", "Recipes", "TestSupport",
            ]),
        tests(
            "ImageSandboxTests",
            [
                "alula", "CLinux", "CShortages", "Coordination", "ImageSandbox", "Imaging", "Memory", "Recipes",
                "Telemetry", "TestSupport",
            ]),
        tests(
            "DownloadingTests",
            ["CCurl", "Coordination", "Crypto", "Downloading", "HTTPTypes", "Memory", "TestSupport", "Text"]),
        tests(
            "ThumbnailPipelineTests",
            [
                "CLinux", "Coordination", "Crypto", "DiskCaching", "Downloading", "HTTPTypes", "Imaging", "Memory",
                "Recipes", "SharedCaching", "Telemetry", "TestSupport", "Text", "ThumbnailPipeline", "ThumbnailTypes",
            ]),
        tests(
            "WebhooksTests",
            ["Coordination", "Downloading", "HTTPTypes", "Telemetry", "TestSupport", "ThumbnailTypes", "Webhooks"]),
        tests(
            "PrefetchingTests",
            [
                "Coordination", "DiskCaching", "Downloading", "HTTPTypes", "Memory", "Prefetching", "Recipes",
                "Telemetry", "TestSupport", "Text", "ThumbnailPipeline", "ThumbnailTypes", "Webhooks",
            ]),
        tests(
            "DialectsTests",
            [
                "Crypto", "Dialects", "HTTPTypes", "Imaging", "Memory", "Recipes", "TestSupport", "Text",
                "ThumbnailPipeline", "ThumbnailTypes",
            ]),
        tests(
            "ThumbnailAPITests",
            [
                "Coordination", "Crypto", "Dialects", "Downloading", "HTTPTypes", "JSON", "Memory",
                "Prefetching", "Recipes", "Telemetry", "TestSupport", "Text", "ThumbnailAPI", "ThumbnailPipeline",
                "ThumbnailTypes", "Webhooks",
            ]),
        tests("HTTPServingTests", ["Coordination", "HTTPServing", "HTTPTypes", "Memory", "Telemetry", "TestSupport"]),
        tests(
            "SettingsTests",
            [
                "Commands", "Coordination", "Crypto", "Dialects", "Downloading", "HTTPServing", "HTTPTypes",
                "ImageSandbox", "JSON", "Recipes", "Settings", "SharedCaching", "Telemetry", "TestSupport", "Text",
                "ThumbnailAPI", "ThumbnailPipeline", "ThumbnailTypes",
            ]),
        tests(
            "CompositionTests",
            [
                "Composition", "Coordination", "Downloading", "HTTPTypes", "Settings", "Telemetry", "TestSupport",
                "ThumbnailAPI", "Webhooks",
            ]),
        tests(
            "CommandsTests",
            [
                "Commands", "Coordination", "Dialects", "Downloading", "JSON", "Memory", "Recipes", "Settings",
                "TestSupport", "ThumbnailAPI", "ThumbnailPipeline", "ThumbnailTypes",
            ]),
        tests(
            "alulaTests",
            [
                "alula", "Commands", "Composition", "Coordination", "Crypto", "Dialects", "DiskCaching", "Downloading",
                "HTTPServing", "HTTPTypes", "ImageSandbox", "Imaging", "JSON", "Memory", "Recipes", "Settings",
                "SharedCaching", "Telemetry", "TestSupport", "Text", "ThumbnailAPI", "ThumbnailPipeline", "Webhooks",
            ]),
    ]
)

if let chosenTests {
    package.targets.removeAll { target in
        target.type == .test && !chosenTests.contains(target.name)
            || target.path?.hasPrefix("Benchmarks/") ?? false
    }
}
