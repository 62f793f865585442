import Coordination
import Dialects
import Downloading
import JSON
import Program
import Settings
import Text
import ThumbnailAPI
import ThumbnailPipeline

enum PrefetchCommand {
    private static let wait = CommandOption(name: "wait", help: "wait for all thumbnails, and fail if one failed")
    private static let to = CommandOption(
        name: "to", form: "ORIGIN:PATTERN",
        help:
            "also write the thumbnails below a named origin with write: true, such as 'store:{dir}/{name}-{w}.{format}'"
    )
    private static let jobs = CommandOption(name: "jobs", help: "list the jobs")
    private static let cancel = CommandOption(name: "cancel", form: "JOB", help: "cancel a job")

    static let description = CommandDescription(
        name: "prefetch", summary: "render thumbnails in the running service before they are requested",
        operands: "URL|LIST… [OPTIONS]",
        text: """
            Starts a job in the running service that renders thumbnails of each URL, which may be NAME:PATH of a named origin. LIST
            is a file, or - for standard input, with one URL per line; with -0, URLs are separated by NUL. A long list becomes
            several jobs, one after another. Uses the admin listener (adminBind, adminPort); the settings of the service apply.

            The exit status is 0, 1 if the service rejects the job or a thumbnail failed, and 2 for invalid use.
            """,
        options: [
            Rendition.option, to, BatchList.separatedByNull, wait, jobs, cancel,
            .responses,
        ],
        takesParameters: true,
        examples: [
            "alula prefetch https://example.com/cat.jpg -w 300 -f webp --wait",
            "alula prefetch urls.txt -w 300,600 -f webp --to 'store:{dir}/{name}-{w}.{format}'",
        ])

    static func run(_ arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            let settings = try CommandRunner.settings(arguments, needsSecrets: false)
            let client = try AdminClient(settings)
            let reporter = PrefetchReporter(client: client, isJSON: arguments.has(.json))
            if arguments.has(jobs) || arguments.has(cancel) {
                try arguments.rejectOperands()
                return try arguments.value(of: cancel).map(reporter.cancel) ?? reporter.listJobs()
            }
            let urls = try PrefetchSources.urls(arguments, origins: settings.downloads.origins)
            let renditions = try Rendition.all(
                of: arguments.values(of: Rendition.option), options: arguments.parameters, format: nil,
                dialect: settings.api.nativeDialect)
            let sources = try PrefetchSources.elements(urls, renditions: renditions, to: arguments.value(of: to))
            let batches = PrefetchSources.batches(of: sources)
            if batches.count > 1, !arguments.has(.json) {
                Program.printError("\(batches.count) jobs, one after another")
            }
            var isComplete = true
            for (number, batch) in batches.enumerated() {
                try Task.checkCancellation()
                let id = try reporter.startJob(batch, count: batch.count * renditions.count, arguments: arguments)
                if arguments.has(wait) || number + 1 < batches.count {
                    isComplete = try await reporter.waitForEnd(of: id) && isComplete
                }
            }
            return isComplete && Program.canPrint ? 0 : 1
        }
    }
}

/// The sources and renditions of jobs.
enum PrefetchSources {
    /// The service accepts at most 10,000 thumbnails and 1 MiB of targets per job.
    private static let maximumThumbnails = 10_000
    private static let maximumBytes = 512 << 10

    /// Returns the URLs of the operands and of the lists among them.
    static func urls(_ arguments: CommandArguments, origins: Origins) throws -> [String] {
        guard !arguments.operands.isEmpty else { throw UsageError("missing URL") }
        let urls = try arguments.operands.flatMap { operand in
            if case .remote = CommandSource(operand, origins: origins) { return [operand] }
            guard operand == Program.standardInput || FilePath.kind(of: operand) != nil else {
                // It may be an origin that only the service knows.
                guard operand.utf8.contains(UInt8(ascii: ":")) else {
                    throw UsageError("\(operand): neither a URL nor a file")
                }
                return [operand]
            }
            return try BatchList.sources(at: operand, arguments: arguments)
        }
        guard !urls.isEmpty else { throw UsageError("the list has no URL") }
        return urls
    }

    /// Returns the elements of a job's `sources`.
    ///
    /// - Parameter pattern: The names of the results with their origin; nil stores them only in the service's caches.
    static func elements(
        _ urls: [String], renditions: [Rendition], to pattern: String?
    ) throws(UsageError) -> [JSONValue] {
        let destination = try pattern.map { (text) throws(UsageError) in
            let origin = text.prefix(before: UInt8(ascii: ":"))
            guard origin.utf8.count < text.utf8.count else { throw UsageError("--to needs ORIGIN:PATTERN") }
            return (String(origin), try ResultPattern(String(text.dropFirst(origin.count + 1))))
        }
        return try urls.map { (url) throws(UsageError) in
            let elements = try renditions.map { (rendition) throws(UsageError) in
                var members: [(String, JSONValue)] = [
                    ("query", .string(NativeDialect.query(options: rendition.options)))
                ]
                if let (origin, pattern) = destination {
                    var values = rendition.sides.merging(rendition.format) { $1 }
                    values[.name] = FileName(source: url).stem
                    values[.dir] = FilePath.remoteFolder(of: url)
                    values[.rendition] = rendition.name
                    let name = pattern.filled(values)
                    for token in ResultPattern.Token.allCases where name.has(token) {
                        throw UsageError("--to: {\(token.rawValue)} needs --\(token.rawValue)")
                    }
                    members.append(("to", .string("\(origin):\(name.text)")))
                }
                return JSONValue.object(members)
            }
            return .object([("url", .string(url)), ("renditions", .array(elements))])
        }
    }

    /// Splits sources into jobs that the service accepts.
    static func batches(of sources: [JSONValue]) -> [[JSONValue]] {
        var batches = [[JSONValue]]()
        var bytes = 0
        var thumbnails = 0
        for source in sources {
            let count = source.members?["renditions"]?.elements?.count ?? 1
            let length = source.text.utf8.count
            if batches.isEmpty || bytes + length > maximumBytes || thumbnails + count > maximumThumbnails {
                batches.append([])
                bytes = 0
                thumbnails = 0
            }
            batches[batches.count - 1].append(source)
            bytes += length
            thumbnails += count
        }
        return batches
    }
}

/// Starts, watches and cancels jobs, and prints them.
struct PrefetchReporter {
    let client: AdminClient
    let isJSON: Bool

    /// Starts a job; returns its ID.
    func startJob(_ sources: [JSONValue], count: Int, arguments: CommandArguments) throws -> String {
        let response = try client.blockingSend(
            "POST", to: AdminPath.prefetch, json: .object([("sources", .array(sources))]))
        do throws(CommandFailure) {
            _ = try response.checked()
        } catch {
            // The service names the invalid parameter: `w: must be …`.
            if let option = arguments.parameters.first(where: { error.reason.hasPrefix($0.name + ":") }) {
                throw UsageError("--\(option.name)\(error.reason.dropFirst(option.name.count))")
            }
            guard let url = Self.rejectedURL(response, among: sources) else { throw error }
            throw CommandFailure(code: error.code, reason: "\(url): \(error.reason)")
        }
        guard let id = response.json?.members?["id"]?.stringValue else { throw unexpectedResponse(without: "a job") }
        Program.print(isJSON ? response.text : "job \(id): \(count) thumbnail\(count == 1 ? "" : "s")")
        return id
    }

    /// Returns the source of the first error, by its JSON Pointer: `/sources/1/renditions/0/to`.
    private static func rejectedURL(_ response: AdminClient.Response, among sources: [JSONValue]) -> String? {
        guard let pointer = response.json?.members?["parameter"]?.stringValue,
            let number = pointer.suffix(after: "/sources/").flatMap({ Int($0.prefix(before: UInt8(ascii: "/"))) }),
            sources.indices.contains(number)
        else { return nil }
        return sources[number].members?["url"]?.stringValue
    }

    /// Waits until a job has ended; returns whether everything succeeded.
    func waitForEnd(of id: String) async throws -> Bool {
        let time = SystemTimekeeper()
        while true {
            let response = try client.blockingJSON("GET", to: AdminPath.prefetch + "/" + id)
            guard let members = response.json?.members, let left = members["left"]?.intValue,
                let failed = members["failed"]?.intValue
            else { throw unexpectedResponse(without: "its job") }
            if left == 0 {
                Program.print(isJSON ? response.text : try Self.line(members))
                if !isJSON { for line in PrefetchText.failures(in: members) { Program.printError(line) } }
                return failed == 0 && members["state"]?.stringValue == "finished"
            }
            try await time.sleep(until: time.now + .milliseconds(200))
        }
    }

    func cancel(_ id: String) throws -> CInt {
        _ = try client.blockingSend("DELETE", to: AdminPath.prefetch + "/" + URLEscape.encode(id)).checked()
        if !isJSON { Program.print("job \(id): canceled") }
        return 0
    }

    func listJobs() throws -> CInt {
        let response = try client.blockingJSON("GET", to: AdminPath.prefetch)
        guard let jobs = response.json?.members?["jobs"]?.elements else {
            throw unexpectedResponse(without: "its jobs")
        }
        if isJSON {
            Program.print(response.text)
        } else if jobs.isEmpty {
            Program.print("no jobs")
        } else {
            for job in jobs { Program.print(try Self.line(job.members ?? [:])) }
        }
        return Program.canPrint ? 0 : 1
    }

    private static func line(_ job: [ExactText: JSONValue]) throws -> String {
        guard let id = job["id"]?.stringValue, let state = job["state"]?.stringValue,
            let done = job["done"]?.intValue, let failed = job["failed"]?.intValue, let left = job["left"]?.intValue
        else { throw CommandFailure(code: "not_json", reason: "the service's job has no progress") }
        return "job \(id): \(done) rendered, \(failed) failed"
            + (state == "running" ? ", \(left) left" : state == "cancelled" ? ", canceled" : "")
    }

    private func unexpectedResponse(without subject: String) -> CommandFailure {
        CommandFailure(code: "not_json", reason: "the service at \(client.endpoint) did not return \(subject)")
    }
}

enum PrefetchText {
    /// Returns a line for each failure with details, and one for failures that the service only counts.
    static func failures(in status: [ExactText: JSONValue]) -> [String] {
        guard let failed = status["failed"]?.intValue, failed > 0 else { return [] }
        var lines = (status["failures"]?.elements ?? []).compactMap { failure -> String? in
            guard let members = failure.members, let failure = CommandFailure(failure: members),
                let url = members["url"]?.stringValue
            else { return nil }
            return "\(url): \(failure.reason)"
        }
        if failed > lines.count { lines.append("\(failed - lines.count) more failed") }
        return lines
    }
}
