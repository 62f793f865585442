import Foundation
import PackagePlugin

/// Makes the documentation in docs/ a Swift source of the module `Book` at build time; `build-book` does the work.
@main struct BookBuilder: BuildToolPlugin {
    /// MkDocs as Debian installs it.
    private static let generator = "/usr/lib/python3/dist-packages/mkdocs"

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let root = context.package.directoryURL
        let own = root.appending(path: "Sources/BookBuilder")
        let script = own.appending(path: "build-book")
        let output = context.pluginWorkDirectoryURL.appending(path: "BookFiles.swift")
        let inputs = [
            "ARCHITECTURE.md", "CONTRIBUTING.md", "openapi.yaml", "mkdocs.yml",
            "Sources/C/CEmbeddedFiles/pages/base.css",
        ].map { root.appending(path: $0) }
        guard FileManager.default.fileExists(atPath: Self.generator) else {
            Diagnostics.warning("This build has no documentation at /book/: run make deps to install MkDocs.")
            let empty = "extension BookFile { static let table: [BookFile] = [] }"
            return [
                .buildCommand(
                    displayName: "Leaving out the documentation", executable: URL(filePath: "/bin/sh"),
                    arguments: ["-c", "echo '\(empty)' > \"$0\"", output.path()], outputFiles: [output])
            ]
        }
        return [
            .buildCommand(
                displayName: "Building the documentation", executable: script, arguments: ["--swift", output.path()],
                inputFiles: inputs + Self.files(in: own) + Self.files(in: root.appending(path: "docs")),
                outputFiles: [output])
        ]
    }

    private static func files(in folder: URL) -> [URL] {
        let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (found?.allObjects as? [URL] ?? []).filter { !$0.hasDirectoryPath }.sorted { $0.path() < $1.path() }
    }
}
