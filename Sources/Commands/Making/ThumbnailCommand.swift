import Coordination
import Downloading
import Program
import Settings

/// `alula thumbnail`: renders thumbnails of files, folders and URLs, without a server.
enum ThumbnailCommand {
    static let description = CommandDescription(
        name: "thumbnail", summary: "make thumbnails of files, folders and URLs, without a server",
        operands: "SOURCE… -o FILE|FOLDER [OPTIONS]",
        text: """
            Makes a thumbnail of each source. A source is a file, a folder, an http or https URL, or - for standard input.
            Without --format, the ending of -o FILE decides, and in a folder the source's own format. Results in a folder are
            called NAME.EXT after their sources, and NAME-2.EXT if that is taken; files that exist are skipped. -o is a folder if
            it is one already, ends in a slash or has no ending.

            The exit status is 0, 1 if a source failed, and 2 for wrong use.
            """,
        options: [
            .output("FILE|FOLDER", "where the results go; - is standard output, for one source"), .force, .recursive,
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
            let parameters = try WatermarkFile.opened(arguments.parameters, for: &settings)
            let options = try MakingOptions(
                parameters, output: output, isSeveral: named.count > 1 || hasFolder,
                settings: CommandSession.adapted(settings, jobs: nil))
            let (sources, unread) = SourceList.expanded(named, isRecursive: arguments.has(.recursive))
            for (path, failure) in unread { Program.complain("\(path): \(failure.reason)") }
            var isComplete = unread.isEmpty
            if sources.isEmpty {
                if isComplete { Program.complain("no image found") }
                return 1
            }
            try options.makeFolder()
            let session = try CommandSession(settings, isVerbose: arguments.has(.verbose))
            let maker = ResultMaker(
                session: session, request: options.request, place: options.place,
                names: SharedResultNames(stems: sources.map(\.stem)), replaces: arguments.has(.force))
            let isTriedAll = await ManySources.run(
                sources, atOnce: session.sourcesAtOnce,
                maker.outcome
            ) { outcome in
                switch outcome.kind {
                case .failed(let failure):
                    isComplete = false
                    if let line = failure.line(about: outcome.source) { Program.complain(line) }
                case .made(let path, _):
                    if case .folder = options.place { Program.say("\(outcome.source) -> \(path)") }
                case .kept(let path, _): Program.say("\(outcome.source) -> \(path) (skipped: exists)")
                }
            }
            await session.end()
            return isComplete && isTriedAll ? 0 : 1
        }
    }
}
