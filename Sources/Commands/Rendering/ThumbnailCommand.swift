import Coordination
import Downloading
import Program
import Settings

enum ThumbnailCommand {
    static let description = CommandDescription(
        name: "thumbnail", summary: "render thumbnails of files, folders and URLs, without a server",
        operands: "SOURCE… -o FILE|FOLDER [OPTIONS]",
        text: """
            Renders a thumbnail of each source: a file, a folder, an http or https URL, or - for standard input. Without --format,
            the extension of -o FILE selects the format, in a folder the source's format. Results in a folder are named NAME.EXT
            after their sources, or NAME-2.EXT if that is taken; existing files are skipped. -o is a folder if it exists as one,
            ends in a slash or has no extension.

            The exit status is 0, 1 if a source failed, and 2 for invalid use.
            """,
        options: [
            .output("FILE|FOLDER", "destination; - is standard output, for one source"), .force, .recursive,
            .verbose,
        ],
        takesParameters: true,
        worksOnImages: true,
        examples: [
            "alula thumbnail cat.jpg --w 300 -o cat-small.webp",
            "alula thumbnail photos --w 300 --h 300 --fit cover --format avif -o thumbnails/",
            "curl -s https://example.com/cat.jpg | alula thumbnail - --w 300 -o - --format webp | wc -c",
        ])

    static func run(_ arguments: [String]) -> Never {
        CommandLife.run(description, arguments) { arguments in
            var settings = try CommandLife.settings(arguments)
            guard !arguments.operands.isEmpty else { throw WrongUse("a source is needed") }
            guard let output = arguments.value(of: .output("", "")) else { throw WrongUse("-o FILE|FOLDER is needed") }
            let named = arguments.operands.map { CommandSource($0, settings.downloads.origins) }
            guard named.count(where: { $0 == .standardInput }) <= 1 else {
                throw WrongUse("standard input can be one source only")
            }
            let hasFolder = named.contains { source in
                if case .file(let path) = source { FilePath.isFolder(path) } else { false }
            }
            let parameters = try WatermarkFile.open(arguments.parameters, for: &settings)
            let options = try RenderingArguments(
                parameters, output: output, hasSeveralResults: named.count > 1 || hasFolder,
                settings: CommandSession.adapted(settings, jobs: nil))
            let (sources, unread) = SourceList.expanded(named, isRecursive: arguments.has(.recursive))
            for (path, failure) in unread { Program.printError("\(path): \(failure.reason)") }
            var isComplete = unread.isEmpty
            if sources.isEmpty {
                if isComplete { Program.printError("no image found") }
                return 1
            }
            try options.makeFolder()
            let session = try CommandSession(settings, isVerbose: arguments.has(.verbose))
            let maker = ResultRenderer(
                session: session, request: options.request, place: options.place,
                names: SharedResultNames(stems: sources.map(\.stem)), replaces: arguments.has(.force))
            let isTriedAll = await SourceQueue.run(
                sources, atOnce: session.sourcesAtOnce,
                maker.outcome
            ) { outcome in
                switch outcome.kind {
                case .failed(let failure):
                    isComplete = false
                    if let line = failure.line(about: outcome.source) { Program.printError(line) }
                case .rendered(let path, _):
                    if case .folder = options.place { Program.print("\(outcome.source) -> \(path)") }
                case .skipped(let path, _): Program.print("\(outcome.source) -> \(path) (skipped: exists)")
                }
            }
            await session.end()
            return isComplete && isTriedAll ? 0 : 1
        }
    }
}
