// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "AlulaClientExample",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "alula", path: "../..")],
    targets: [
        .executableTarget(
            name: "AlulaClientExample", dependencies: [.product(name: "AlulaClient", package: "alula")],
            path: "Sources", swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
