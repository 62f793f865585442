import Composition
import Coordination
import Dialects
import Downloading
import JSON
import Program
import Recipes
import Settings
import Text
import ThumbnailAPI
import ThumbnailPipeline

enum ExplainCommand {
    private static let list = CommandOption(
        name: "file", form: "LIST",
        help:
            "file with one URL per line, or - for standard input; prints counts by verdict and by option, each with an example",
        completion: .files)
    private static let only = CommandOption(
        name: "only", form: "VERDICT",
        help: "with --file: print the URLs with this verdict and their lines: works, ignores or refused",
        completion: .words(TargetExplanation.verdictNames))
    private static let source = CommandOption(
        name: "source", form: "SIZE", help: "the assumed source, such as 4000x3000.png; default: 3000x2000.jpeg")
    private static let accept = CommandOption(name: "accept", form: "TYPES", help: "the Accept field of the request")
    private static let environment = CommandOption(
        name: "environment", help: "print the settings that each variable of the service in environmentOf replaces")

    static let description = CommandDescription(
        name: "explain", summary: "explain URLs, including those of other services",
        operands: "[OPTIONS] URL…|--file LIST|--environment",
        text: """
            Prints for each URL its source, the equivalent Alula parameters, the steps, and the options that are ignored or refused.
            URL is a path with its query, or a whole URL, whose host may select the tenant. Nothing is fetched, and host names are
            not looked up; expiry and the policy on sources are checked.

            The exit status is 0, 1 if a URL is refused, and 2 for invalid use.
            """, options: [list, only, source, accept, .json, environment],
        examples: [
            "alula explain --config alula.json5 --file urls.txt --only refused",
            "alula explain --json '/thumbnail?url=https%3A%2F%2Fexample.com%2Fa.jpg&w=300'",
        ])

    static func run(_ arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            if arguments.has(environment) { return try explainEnvironment(arguments) }
            let options = try Options(arguments)
            var settings = try CommandRunner.settings(arguments)
            settings.assumeFaceDetection()
            var pipeline = settings.pipeline
            pipeline.rules.limits.sourceFormats = settings.sandbox.sourceFormats(inSandbox: true)
            let explainer = TargetExplainer(
                settings, pipeline: pipeline,
                rules: DownloadRules(settings.downloads, tenants: settings.tenantDownloads))
            let now = SystemTimekeeper().secondsSince1970
            let explain = { (url: String) in
                explainer.explanation(of: url, accept: options.accept, for: options.source, now: now)
            }
            let isAnyRejected =
                if let list = options.list { try summarize(list, with: options, explaining: explain) } else {
                    printEach(options, explain)
                }
            return isAnyRejected ? ExitStatus.failed : 0
        }
    }

    /// Explains variables; returns status 1 if one of them prevents the start.
    private static func explainEnvironment(_ arguments: CommandArguments) throws(UsageError) -> CInt {
        let reading = SettingsLoader.otherServiceReading(
            arguments: arguments.settings, environment: Program.environment, readFile: SettingsFile.read)
        guard let reading else { throw UsageError("--environment needs --environment-of, or ALULA_ENVIRONMENT_OF") }
        Program.print(OtherServiceVariable.lines(reading.variables).joined(separator: "\n"))
        for problem in reading.problems { Program.printError(problem) }
        return reading.problems.isEmpty ? 0 : ExitStatus.failed
    }

    /// Returns whether a URL is rejected.
    private static func printEach(_ options: Options, _ explain: (String) -> TargetExplanation) -> Bool {
        var isAnyRejected = false
        for (index, url) in options.urls.enumerated() {
            let explanation = explain(url)
            isAnyRejected = isAnyRejected || explanation.isRejected
            if options.isJSON {
                Program.print(explanation.json.text)
            } else {
                if index > 0 { Program.print("") }
                if options.urls.count > 1 { Program.print(url) }
                Program.print(explanation.lines.joined(separator: "\n"))
            }
        }
        return isAnyRejected
    }

    /// Returns whether a URL is rejected.
    private static func summarize(
        _ list: String, with options: Options, explaining explain: (String) -> TargetExplanation
    ) throws(UsageError) -> Bool {
        guard let text = Program.input(at: list).map({ String(decoding: $0, as: UTF8.self) }) else {
            throw UsageError("\(list) cannot be read")
        }
        var summary = ExplanationSummary()
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let url = String(line.trimmingPrefix(while: \.isWhitespace).prefix { !$0.isWhitespace })
            guard !url.isEmpty, !url.hasPrefix("#") else { continue }
            let listed = ListedURL(line: index + 1, url: url, explanation: explain(url))
            summary.add(listed)
            guard options.only.map({ $0 == listed.explanation.verdictName }) ?? options.isJSON else { continue }
            Program.print(options.isJSON ? listed.json.text : listed.text)
        }
        if !options.isJSON, options.only == nil { Program.print(summary.lines.joined(separator: "\n")) }
        return summary.rejectedCount > 0
    }

    private struct Options {
        let urls: [String]
        let list: String?
        let source: ImageHeader
        let accept: String?
        let isJSON: Bool
        let only: String?

        init(_ arguments: CommandArguments) throws(UsageError) {
            urls = arguments.operands
            list = arguments.value(of: ExplainCommand.list)
            accept = arguments.value(of: ExplainCommand.accept)
            isJSON = arguments.has(.json)
            only = arguments.value(of: ExplainCommand.only)
            let size = arguments.value(of: ExplainCommand.source)
            guard let source = size.map(TargetExplainer.header) ?? TargetExplainer.assumed() else {
                throw UsageError("--source: \(TargetExplainer.headerForm)")
            }
            self.source = source
            guard only.map(TargetExplanation.verdictNames.contains) ?? true else {
                throw UsageError("--only: must be one of \(TargetExplanation.verdictNames.joined(separator: ", "))")
            }
            guard only == nil || list != nil else { throw UsageError("--only needs --file") }
            guard urls.isEmpty != (list == nil) else {
                throw UsageError(list == nil ? "missing URL" : "URLs and --file cannot be combined")
            }
        }
    }
}
