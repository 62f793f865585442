import Composition
import Dialects
import Downloading
import Glibc
import JSON
import Program
import Recipes
import Settings
import Text
import ThumbnailAPI
import ThumbnailPipeline
import ThumbnailTypes

enum InfoCommand {
    private static let include = CommandOption(
        name: "include", form: "FEATURES",
        help: "add facts computed from the pixels: " + features.joined(separator: ",") + ", or some of these",
        completion: .words(features))
    private static let features = ImageAppearance.Feature.allCases.map(\.rawValue) + ["faces"]
    private static let components = CommandOption(
        name: "components", form: "4x3", help: "columns and rows of the BlurHash, 1x1 to 9x9")

    static let description = CommandDescription(
        name: "info", summary: "print facts about images: format, size, colors and more", operands: "SOURCE… [OPTIONS]",
        text: """
            Prints the same facts about each source as /info: a table on a terminal, or one JSON object per line with --json or
            into a pipe or file. A source is a file, a folder, an http or https URL, or - for standard input. Only headers are
            read, unless --include needs more.

            The exit status is 0, 1 if a source failed, and 2 for invalid use.
            """,
        options: [include, components, .recursive, .json, .verbose],
        takesImageSettings: true,
        examples: ["alula info cat.jpg", "alula info photos --recursive --include color,blurhash"])

    static func run(_ arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            let settings = try CommandRunner.settings(arguments)
            guard !arguments.operands.isEmpty else { throw UsageError("missing source") }
            let requested: FactsRequest
            do throws(APIError) {
                requested = try InfoDialect.facts(options: arguments.pairs([include, components]))
            } catch {
                throw error.usageError
            }
            let (expanded, isExpanded) = SourceList.expanded(
                arguments.operands.map { CommandSource($0, origins: settings.downloads.origins) }, for: arguments)
            let sources = expanded.map(\.source)
            let session = try CommandSession(settings, isVerbose: arguments.has(.verbose))
            let isTable = !arguments.has(.json) && isatty(STDOUT_FILENO) == 1
            var isComplete = isExpanded
            var lines = OrderedLines()
            let areAllTried = await InfoLines.run(sources, request: requested, session: session) { index, line in
                for (index, line) in lines.add(line, at: index) {
                    switch line {
                    case .success(let text):
                        isComplete = Program.print(isTable ? InfoTable.text(text) : text) && isComplete
                    case .failure(let failure):
                        isComplete = false
                        if let line = failure.line(about: sources[index].text) { Program.printError(line) }
                    }
                }
                return Program.canPrint
            }
            await session.end()
            return isComplete && areAllTried ? 0 : 1
        }
    }
}

/// Formats the facts of a source for people.
enum InfoTable {
    /// Returns the members of a JSON object, one per line, indented below the source.
    static func text(_ json: String) -> String {
        guard case .object(let members)? = try? JSONReader.value(in: Array(json.utf8)), let source = members.first
        else { return json }
        let rows = members.dropFirst().map { ($0.0, text(of: $0.1)) }
        return Program.line(text(of: source.1)) + "\n" + CommandDescription.table(rows)
    }

    private static func text(of value: JSONValue) -> String {
        if case .string(let text) = value { Program.line(text) } else { value.text }
    }
}

/// Computes the lines of `alula info`, several at a time.
enum InfoLines {
    /// Calls `report` for each line in order, until it returns false; returns whether all sources were tried.
    static func run(
        _ sources: [CommandSource], request requested: FactsRequest, session: CommandSession,
        report: (Int, Result<String, CommandFailure>) -> Bool
    ) async -> Bool {
        await withTaskGroup(of: (Int, Result<String, CommandFailure>).self) { group in
            var next = 0
            var goesOn = true
            func begin() {
                guard next < sources.count, goesOn, !Task.isCancelled else { return }
                let index = next
                next += 1
                group.addTask { (index, await line(of: sources[index], requested: requested, in: session)) }
            }
            for _ in 0..<session.sourcesAtOnce { begin() }
            while let (index, line) = await group.next() {
                goesOn = report(index, line) && goesOn
                begin()
            }
            return next == sources.count
        }
    }

    private static func line(
        of source: CommandSource, requested: FactsRequest, in session: CommandSession
    ) async -> Result<String, CommandFailure> {
        do {
            let facts = try await facts(about: source, requested: requested, in: session)
            return .success(FactsText.text(facts, of: source.text, requested: requested))
        } catch {
            return .failure(CommandFailure(error))
        }
    }
}

extension InfoLines {
    private static func facts(
        about source: CommandSource, requested: FactsRequest, in session: CommandSession
    ) async throws -> SourceFacts {
        let pipeline = session.engine.pipeline
        if case .remote(let url) = source {
            let request = pipeline.resolved(Request(source: ExactText(url)))
            return try await pipeline.facts(requested, for: Job(request, receipt: "info"))
        }
        let opened = try await session.open(source, receipt: "info")
        defer { session.close(opened) }
        let request = pipeline.resolved(Request(source: ""), of: opened)
        return try await pipeline.facts(requested, for: Job(request, receipt: "info"))
    }
}

struct OrderedLines {
    private var waiting: [Int: Result<String, CommandFailure>] = [:]
    private var next = 0

    mutating func add(
        _ line: Result<String, CommandFailure>, at index: Int
    ) -> [(index: Int, line: Result<String, CommandFailure>)] {
        waiting[index] = line
        var ready: [(index: Int, line: Result<String, CommandFailure>)] = []
        while let line = waiting.removeValue(forKey: next) {
            ready.append((next, line))
            next += 1
        }
        return ready
    }
}
