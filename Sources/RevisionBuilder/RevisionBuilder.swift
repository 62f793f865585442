import Foundation
import PackagePlugin

/// Writes the revision of the source code into the module `Program` at build time: Git's, or the environment variable
/// `ALULA_REVISION` if there is no repository.
@main struct RevisionBuilder: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let repository = context.package.directoryURL.appending(path: ".git")
        let output = context.pluginWorkDirectoryURL.appending(path: "Revision.swift")
        let head = repository.appending(path: "HEAD")
        // A checkout of a branch or of a commit; a change of either makes a new revision.
        let branch = (try? String(contentsOf: head, encoding: .utf8))?.split(separator: " ").last
            .map { repository.appending(path: $0.trimmingCharacters(in: .newlines)) }
        let inputs = [head, branch, repository.appending(path: "packed-refs")].compactMap { $0 }
            .filter { FileManager.default.fileExists(atPath: $0.path()) }
        let fallback = ProcessInfo.processInfo.environment["ALULA_REVISION"] ?? "unknown"
        let script = """
            revision=$(git -C "$1" rev-parse --short=12 HEAD 2>/dev/null) || revision=$2
            printf 'extension Program {\\n    /// The revision of the source code.\\n' >"$3"
            printf '    package static var revision: String { "%s" }\\n}\\n' "$revision" >>"$3"
            """
        return [
            .buildCommand(
                displayName: "Writing the revision", executable: URL(filePath: "/bin/sh"),
                arguments: ["-c", script, "sh", context.package.directoryURL.path(), fallback, output.path()],
                inputFiles: inputs, outputFiles: [output])
        ]
    }
}
