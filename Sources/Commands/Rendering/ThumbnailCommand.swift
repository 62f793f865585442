import Coordination
import Downloading
import HTTPTypes
import Program
import Recipes
import Settings
import Text
import ThumbnailTypes

enum ThumbnailCommand {
    static let description = CommandDescription(
        name: "thumbnail", summary: "render thumbnails of files, folders and URLs, without a server",
        operands: "SOURCE… -o FILE|FOLDER [OPTIONS]",
        text: """
            Renders a thumbnail of each source: a file, a folder, an http or https URL, or - for standard input. Without --format,
            the extension of -o FILE selects the format; results in a folder keep the source's format. -o is a folder if it exists
            as one, ends in a slash or has no extension.

            \(ResultNameHelp.text)

            The exit status is 0, 1 if a source failed, and 2 for invalid use.
            """,
        options: [
            .output("FILE|FOLDER", help: "destination or pattern; - writes one result to standard output"),
            Rendition.option,
            .force, .recursive, .flat, .header, .verbose,
        ],
        takesParameters: true,
        takesImageSettings: true,
        takesFiles: true,
        examples: [
            "alula thumbnail cat.jpg -w 300 -o cat-small.webp",
            "alula thumbnail cat.jpg -w 300,600,1200 -f webp -o out/",
            "alula thumbnail photos --recursive -w 300 -h 300 --fit cover -f avif -o thumbnails/",
            "curl -s https://example.com/cat.jpg | alula thumbnail - -w 300 -o - -f webp | wc -c",
        ])

    static func run(_ arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            var settings = try CommandRunner.settings(arguments)
            guard !arguments.operands.isEmpty else { throw UsageError("missing source") }
            guard let output = arguments.value(of: .output("", help: "")) else {
                throw UsageError("missing -o FILE|FOLDER")
            }
            let fields = try forwardedFields(arguments.values(of: .header), origins: settings.downloads.origins)
            let named = arguments.operands.map { CommandSource($0, origins: settings.downloads.origins) }
            guard named.count(where: { $0 == .standardInput }) <= 1 else {
                throw UsageError("standard input can be one source only")
            }
            let hasFolder = named.contains { if case .file(let path) = $0 { FilePath.isFolder(path) } else { false } }
            let (parameters, queries) = try WatermarkFile.open(
                arguments.parameters, queries: arguments.values(of: Rendition.option), for: &settings)
            let options = try RenderingArguments(
                parameters, queries: queries, output: output,
                hasSeveralSources: named.count > 1 || hasFolder, settings: CommandSession.adapted(settings, jobs: nil))
            let (sources, isExpanded) = SourceList.expanded(named, for: arguments)
            var isComplete = isExpanded
            if sources.isEmpty {
                let hint = hasFolder && !arguments.has(.recursive) ? "; --recursive also reads subfolders" : ""
                if isComplete { Program.printError("no image found\(hint)") }
                return 1
            }
            settings.sandbox.decodedFormats = decodedFormats(sources, options: options)
            try options.makeFolder()
            let session = try CommandSession(settings, fields: fields, isVerbose: arguments.has(.verbose))
            let renderer = ResultRenderer(
                session: session, sources: sources, arguments: options, replaces: arguments.has(.force),
                isFlat: arguments.has(.flat))
            let areAllTried = await SourceQueue.run(sources.count, atOnce: session.sourcesAtOnce, renderer.outcomes) {
                outcome in
                if let failure = outcome.failure {
                    isComplete = false
                    guard !outcome.isRepeated, let line = failure.line(about: outcome.sourceText) else { return }
                    Program.printError(line)
                } else if options.output.hasSeveralResults, let line = outcome.line {
                    Program.print(line)
                }
            }
            await session.end()
            if !areAllTried, options.output.hasSeveralResults {
                Program.printError("stopped; the same command continues, because existing files are skipped")
            }
            return isComplete && areAllTried ? 0 : 1
        }
    }
}

extension ThumbnailCommand {
    static func forwardedFields(_ texts: [String], origins: Origins) throws(UsageError) -> HTTPFields {
        var fields = HTTPFields()
        for text in texts {
            guard let name = HTTPField.Name(String(text.prefix(before: UInt8(ascii: ":")))),
                let value = text.suffix(after: UInt8(ascii: ":")).map({ HTTPSyntax.trimmed($0) }),
                value.utf8.allSatisfy({ !$0.isASCIIControl })
            else { throw UsageError("--header: expected NAME: VALUE") }
            guard origins.all.contains(where: { $0.forwarded.contains { $0.name == name } }) else {
                throw UsageError("--header: no named origin forwards \(name)")
            }
            // A field's scalars stand for its bytes.
            fields.append(name, String(String.UnicodeScalarView(value.utf8.map { Unicode.Scalar($0) })))
        }
        return fields
    }

    /// Returns the format of the only image to decode; nil if there are several, or it is unknown before the fetch.
    private static func decodedFormats(_ sources: [FoundSource], options: RenderingArguments) -> Set<ImageFormat>? {
        guard sources.count == 1, case .file(let path) = sources[0].source,
            options.renditions.allSatisfy(\.request.additional.isEmpty),
            // A drawing may contain images in other formats.
            let format = SourceList.format(of: path), format != .svg
        else { return nil }
        return [format]
    }
}

/// The naming of results, for the help of commands.
enum ResultNameHelp {
    static let text = """
        In a folder, the result of a/b.jpg (relative to the SOURCE that contains it) is
          a/b.EXT            for one rendition
          a/b-WIDTH.EXT      for a list of widths
          a/b-RENDITION.EXT  for --rendition
        or a/b-2.EXT and so on if another source has the name. To name results yourself, use a pattern with {name}, {dir}, {w},
        {h}, {format} and {rendition}. Existing files are skipped.
        """
}
