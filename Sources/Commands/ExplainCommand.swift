import Coordination
import Dialects
import Glibc
import Imaging
import JSON
import Program
import Settings
import Text
import ThumbnailAPI
import ThumbnailPipeline

/// `alula explain`: explains targets of the public listener, without a service and without fetching anything.
enum ExplainCommand {
    static let help = """
        Usage: alula explain [OPTIONS] [SETTINGS] URL…
               alula explain [OPTIONS] [SETTINGS] --file LIST
               alula explain [SETTINGS] --environment

        Says what each URL would do: its source, the same in Alula's own parameters, the steps, and which of its options
        are ignored or refused. URL is a path with its query, or a whole URL whose host does not matter. Nothing is fetched:
        expiry and the policy on sources are judged, names of hosts are not looked up.

          --file LIST    a URL a line, - for standard input; prints counts by verdict and by option, each with an example
          --only WORD    lists the URLs of one verdict instead, with their lines: works, ignores or refused
          --source SIZE  the source that sizes are worked out for, such as 4000x3000.png (3000x2000.jpeg)
          --accept TEXT  the Accept field of the request
          --json         one JSON object a line; with --file it has the number of the line
          --environment  says of each variable of the service that environmentOf names which setting it stands for

        SETTINGS are those of `alula serve`, as flags, environment or --config FILE: places of dialects, keys, presets.

        The exit status is 0, 1 if a URL is refused, and 2 for wrong use.

          alula explain --config alula.json5 --file urls.txt --only refused
          alula explain --json '/thumbnail?url=https%3A%2F%2Fexample.com%2Fa.jpg&w=300'
        """

    static func run(_ arguments: [String]) -> Never {
        if arguments.contains("--help") || arguments.contains("-h") { Program.succeed(help) }
        if arguments.contains("--environment") { explainEnvironment(arguments.filter { $0 != "--environment" }) }
        var options = Options()
        let rest: [String]
        do throws(WrongUse) { rest = try options.read(arguments) } catch {
            Program.fail(["alula explain: \(error.reason)", "", help], status: ExitStatus.wrongUse)
        }
        let settings: Settings
        do throws(SettingsLoader.Failure) {
            settings = try SettingsLoader.load(
                arguments: rest, environment: Program.environment, readFile: SettingsFile.read)
        } catch {
            Program.fail(error.lines.map { "alula: " + $0 }, status: ExitStatus.wrongUse)
        }
        var pipeline = settings.pipeline
        pipeline.rules.limits.sourceFormats = settings.sandbox.sourceFormats(inSandbox: true)
        let explainer = TargetExplainer(settings.api, pipeline, settings.downloads)
        let now = SystemTimekeeper().secondsSince1970
        let explain = { (url: String) in
            explainer.explanation(of: url, accept: options.accept, for: options.source, now: now)
        }
        let isAnyRefused = options.list.map { summarize($0, options, explain) } ?? tell(options, explain)
        exit(isAnyRefused ? 1 : 0)
    }

    /// Prints the meaning of another service's variables; exits with status 1 if one of them prevents the start.
    private static func explainEnvironment(_ arguments: [String]) -> Never {
        let reading = SettingsLoader.foreignReading(
            arguments: arguments, environment: Program.environment, readFile: SettingsFile.read)
        guard let reading else {
            Program.fail(
                ["alula explain: --environment needs --environment-of, or ALULA_ENVIRONMENT_OF"],
                status: 2)
        }
        Program.say(ForeignVariable.lines(reading.variables).joined(separator: "\n"))
        if reading.problems.isEmpty { exit(0) }
        Program.fail(reading.problems.map { "alula: " + $0 }, status: 1)
    }

    private static func tell(_ options: Options, _ explain: (String) -> TargetExplanation) -> Bool {
        var isAnyRefused = false
        for (index, url) in options.urls.enumerated() {
            let explanation = explain(url)
            isAnyRefused = isAnyRefused || explanation.word == "refused"
            if options.isJSON {
                Program.say(explanation.json.text)
            } else {
                if index > 0 { Program.say("") }
                if options.urls.count > 1 { Program.say(url) }
                Program.say(explanation.lines.joined(separator: "\n"))
            }
        }
        return isAnyRefused
    }

    /// Prints a summary of a list of URLs; returns whether one is rejected.
    private static func summarize(
        _ list: String, _ options: Options, _ explain: (String) -> TargetExplanation
    ) -> Bool {
        guard let text = Program.input(at: list).map({ String(decoding: $0, as: UTF8.self) }) else {
            Program.fail(["alula explain: \(list) cannot be read"], status: ExitStatus.wrongUse)
        }
        var summary = ExplanationSummary()
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let url = String(line.trimmingPrefix(while: \.isWhitespace).prefix { !$0.isWhitespace })
            guard !url.isEmpty, !url.hasPrefix("#") else { continue }
            let listed = ListedURL(line: index + 1, url: url, explanation: explain(url))
            summary.add(listed)
            guard options.only.map({ $0 == listed.explanation.word }) ?? options.isJSON else { continue }
            Program.say(options.isJSON ? listed.json.text : listed.text)
        }
        if !options.isJSON, options.only == nil { Program.say(summary.lines.joined(separator: "\n")) }
        return summary.refusedCount > 0
    }

    private struct WrongUse: Error {
        let reason: String
    }

    private struct Options {
        var urls: [String] = []
        var list: String?
        var source = TargetExplainer.assumed()
        var accept: String?
        var isJSON = false
        var only: String?

        /// Reads the command's own options and returns the remaining arguments, which are settings.
        mutating func read(_ arguments: [String]) throws(WrongUse) -> [String] {
            var settings: [String] = []
            var rest = arguments[...]
            while let argument = rest.popFirst() {
                let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                    String.init)
                func value() throws(WrongUse) -> String {
                    guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                        throw WrongUse(reason: "\(argument) needs a value")
                    }
                    return value
                }
                switch parts[0] {
                case "--json" where parts.count == 1: isJSON = true
                case "--file": list = try value()
                case "--accept": accept = try value()
                case "--only":
                    let word = try value()
                    guard TargetExplanation.words.contains(word) else {
                        throw WrongUse(
                            reason: "--only: must be one of \(TargetExplanation.words.joined(separator: ", "))")
                    }
                    only = word
                case "--source":
                    guard let header = TargetExplainer.header(try value()) else {
                        throw WrongUse(reason: "--source: \(TargetExplainer.headerForm)")
                    }
                    source = header
                case let flag where flag.hasPrefix("--"):
                    settings.append(argument)
                    if parts.count == 1, let next = rest.popFirst() { settings.append(next) }
                default: urls.append(argument)
                }
            }
            guard only == nil || list != nil else { throw WrongUse(reason: "--only needs --file") }
            guard urls.isEmpty != (list == nil) else {
                throw WrongUse(reason: list == nil ? "a URL is needed" : "URLs and --file do not go together")
            }
            return settings
        }
    }
}
