import Coordination
import Downloading
import Program
import Settings

enum BatchCommand {
    private static let resume = CommandOption(
        name: "resume", help: "skip results of an earlier run with the same options")

    static let description = CommandDescription(
        name: "batch", summary: "render thumbnails of a list of sources, on all cores",
        operands: "LIST -o FOLDER [OPTIONS]",
        text: """
            Renders a thumbnail of each source in LIST, a file or - for standard input, with one source per line; empty lines and
            lines that begin with # are ignored. With -0, reads the output of `find -print0`. A source is a file, a folder, or
            an http or https URL.

            \(ResultNameHelp.text)
            With -o ORIGIN:PATH/, results are stored below a named origin with write: true, with their media types and
            Cache-Control.

            A terminal shows a bar with the rate, the remaining time and the failures. --resume continues after an interruption:
            a result is complete or missing, and the file \(BatchRecord.name) in the folder records the sources of results.

            The exit status is 0, 1 if a source failed, and 2 for invalid use.
            """,
        options: [
            .output("FOLDER", help: "folder or pattern of the results, created if missing; or ORIGIN:PATH/"),
            Rendition.option,
            .jobs, resume, BatchList.separatedByNull, .force, .recursive, .flat, .json, .verbose,
        ],
        takesParameters: true,
        takesImageSettings: true,
        examples: [
            "find photos -name '*.jpg' | alula batch - -w 600 -f webp -o thumbnails",
            "alula batch photos.txt -w 300,600,1200 -o 'out/{dir}/{name}-{w}.{format}'",
            "alula batch urls.txt --w 300 --h 300 --fit cover -o thumbnails --resume --json",
        ])

    static func run(_ arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            var settings = try CommandRunner.settings(arguments)
            guard arguments.operands.count == 1, let path = arguments.operands.first else {
                throw UsageError("expected one LIST: a file, or - for standard input")
            }
            guard let output = arguments.value(of: .output("", help: "")) else { throw UsageError("missing -o FOLDER") }
            guard output != "-" else { throw UsageError("-o must be a folder") }
            let jobs = try arguments.number(.jobs, in: 1...1_024)
            let (parameters, queries) = try WatermarkFile.open(
                arguments.parameters, queries: arguments.values(of: Rendition.option), for: &settings)
            let options = try RenderingArguments(
                parameters, queries: queries, output: output, hasSeveralSources: true,
                isFromList: true, settings: CommandSession.adapted(settings, jobs: jobs))
            let named = try BatchList.sources(at: path, arguments: arguments).map {
                CommandSource($0, origins: settings.downloads.origins)
            }
            let (sources, isExpanded) = SourceList.expanded(named, for: arguments)
            try options.makeFolder()
            let record: BatchRecord?
            switch options.output {
            case .folder(let folder):
                record = try BatchRecord(in: folder, options: "\(Program.version) \(options.pattern.text)")
            case .origin:
                // Finished results are recorded in the folder, which must be local.
                guard !arguments.has(resume) else { throw UsageError("--resume requires a local folder") }
                record = nil
            case .standardOutput, .file: throw UsageError("-o must be a folder")
            }
            let session = try CommandSession(settings, jobs: jobs, isVerbose: arguments.has(.verbose))
            let renderer = ResultRenderer(
                session: session, sources: sources, arguments: options, replaces: arguments.has(.force), record: record,
                keepsFinished: arguments.has(resume), isFlat: arguments.has(.flat), isDurable: true)
            var report = BatchReport(total: sources.count * options.renditions.count, isJSON: arguments.has(.json))
            report.draw()
            let isComplete = await SourceQueue.run(sources.count, atOnce: session.sourcesAtOnce, renderer.outcomes) {
                report.add($0)
            }
            report.end(isComplete: isComplete, hasRecord: record != nil)
            await session.end()
            return isComplete && report.hasNoFailures && isExpanded ? 0 : 1
        }
    }
}
