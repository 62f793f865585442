import Coordination
import Downloading
import Program
import Settings

/// `alula batch`: renders thumbnails of a list of sources on all cores, and can resume.
enum BatchCommand {
    private static let resume = CommandOption(
        name: "resume", help: "skip what an earlier run with the same options has finished")

    private static let separatedByNull = CommandOption(
        name: "null", short: "0",
        help: "names in LIST end in a NUL, as `find -print0` writes them, and not in a line end")

    static let description = CommandDescription(
        name: "batch", summary: "make thumbnails of a list of sources, with all cores",
        operands: "LIST -o FOLDER [OPTIONS]",
        text: """
            Makes a thumbnail of each source in LIST, a file or - for standard input, with one source a line; empty lines and
            lines that begin with # do not count. With -0 it reads what `find -print0` writes. A source is a file, a folder, or
            an http or https URL. Results are called NAME.EXT after their sources, and NAME-2.EXT if that is taken. Files that
            exist are skipped. With -o ORIGIN:PATH/ results go below a named origin of the settings file that has write: true,
            with their media types and Cache-Control.

            On a terminal it shows a bar with the rate, the time that is left and the failures. --resume goes on after an end of any
            kind: a result is in the folder as a whole or not at all, and the file \(BatchRecord.name) there says what it was made of.

            The exit status is 0, 1 if a source failed, and 2 for wrong use.
            """,
        options: [
            .output("FOLDER", "where the results go; made if it is missing; or ORIGIN:PATH/"), .jobs, resume,
            separatedByNull, .force, .recursive, .json, .verbose,
        ],
        takesParameters: true,
        worksOnImages: true,
        examples: [
            "find photos -name '*.jpg' | alula batch - --w 600 --format webp -o thumbnails",
            "alula batch urls.txt --w 300 --h 300 --fit cover -o thumbnails --resume --json",
        ])

    static func run(_ arguments: [String]) -> Never {
        CommandLife.run(description, arguments) { arguments in
            var settings = try CommandLife.settings(arguments)
            guard arguments.operands.count == 1, let path = arguments.operands.first else {
                throw WrongUse("one LIST is needed: a file, or - for standard input")
            }
            guard let output = arguments.value(of: .output("", "")) else { throw WrongUse("-o FOLDER is needed") }
            guard output != "-" else { throw WrongUse("-o must be a folder") }
            let jobs = try arguments.number(.jobs, in: 1...1_024)
            let parameters = try WatermarkFile.opened(arguments.parameters, for: &settings)
            let options = try MakingOptions(
                parameters, output: output, isSeveral: true, isList: true,
                settings: CommandSession.adapted(settings, jobs: jobs))
            let list = try BatchList.blockingRead(path)
            let lines =
                arguments.has(separatedByNull) ? BatchList.sourcesBeforeNull(in: list) : try BatchList.sources(in: list)
            let named = lines.map { CommandSource($0, settings.downloads.origins) }
            let (sources, unread) = SourceList.expanded(named, isRecursive: arguments.has(.recursive))
            for (path, failure) in unread { Program.complain("\(path): \(failure.reason)") }
            try options.makeFolder()
            let record: BatchRecord?
            switch options.place {
            case .folder(let folder):
                record = try BatchRecord(in: folder, options: "\(Program.version) \(options.request)")
            case .origin:
                // A finished result is recorded beside it, which works only in a local folder.
                guard !arguments.has(resume) else { throw WrongUse("--resume needs a folder of this machine") }
                record = nil
            case .standardOutput, .file: throw WrongUse("-o must be a folder")
            }
            let session = try CommandSession(settings, jobs: jobs, isVerbose: arguments.has(.verbose))
            let maker = ResultMaker(
                session: session, request: options.request, place: options.place,
                names: SharedResultNames(stems: sources.map(\.stem)), replaces: arguments.has(.force), record: record,
                keepsFinished: arguments.has(resume), isDurable: true)
            var report = BatchReport(total: sources.count, isJSON: arguments.has(.json))
            report.draw()
            let isComplete = await ManySources.run(
                sources, atOnce: session.sourcesAtOnce, maker.outcome
            ) { report.add($0) }
            report.end(isComplete: isComplete)
            await session.end()
            return isComplete && report.isWell && unread.isEmpty ? 0 : 1
        }
    }
}
