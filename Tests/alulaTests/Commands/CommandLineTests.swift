import Coordination
import Dispatch
import Foundation
import HTTPServing
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@testable import Commands
@testable import Composition

/// One run of the built executable: its output and exit status.
struct CommandRun: Sendable {
    let output: [UInt8]
    let errors: String
    /// The exit status; nil if a signal ended the process.
    let status: Int32?

    var text: String { String(decoding: output, as: UTF8.self) }
    var lines: [String] { text.split(separator: "\n").map(String.init) }

    /// Runs the executable in `folder` until it exits.
    ///
    /// Sends `signal` as soon as standard error contains `marker`.
    init(
        _ arguments: [String], in folder: TemporaryFolder, input: [UInt8] = [],
        environment: [String: String] = [:], signal: Int32? = nil, whenErrorsHold marker: String = ""
    ) throws {
        let process = Process()
        let (output, errors, source) = (Pipe(), Pipe(), TemporaryFolder())
        source.write("input", input)
        process.executableURL = URL(filePath: BuiltExecutable.alula)
        process.arguments = arguments
        process.currentDirectoryURL = URL(filePath: folder.path)
        // Pass on only variables of sanitizers from the tests' environment.
        let sanitizing = ProcessInfo.processInfo.environment.filter { $0.key.hasSuffix("SAN_OPTIONS") }
        process.environment = ["PATH": "/usr/bin:/bin"].merging(sanitizing) { $1 }.merging(environment) { $1 }
        process.standardInput = FileHandle(forReadingAtPath: source.path + "/input")
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let identifier = process.processIdentifier
        let found = Locked("")
        let hasReadAll = DispatchSemaphore(value: 0)
        let reader = Thread {
            while case let data = errors.fileHandleForReading.availableData, !data.isEmpty {
                let isDue = found.withLock { text in
                    let wasThere = !marker.isEmpty && text.contains(marker)
                    text += String(decoding: data, as: UTF8.self)
                    return !wasThere && text.contains(marker)
                }
                if isDue, let signal { kill(identifier, signal) }
            }
            hasReadAll.signal()
        }
        reader.start()
        self.output = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        hasReadAll.wait()
        self.errors = found.withLock { $0 }
        status = process.terminationReason == .exit ? process.terminationStatus : nil
    }
}

@Suite(.timeLimit(.minutes(2)))
struct CommandLineTests {
    let folder = TemporaryFolder()
    let jpeg = ImageFixture.photo(width: 160, height: 120).array

    func run(
        _ arguments: String..., input: [UInt8] = [], environment: [String: String] = [:]
    ) throws -> CommandRun {
        try CommandRun(arguments, in: folder, input: input, environment: environment)
    }

    private static let runners = WorkerPool(count: 1, maximumQueued: 8, name: "command-runs")

    /// Runs a command that uses a service in this process; a separate thread waits for the command.
    func runAside(_ arguments: String..., environment: [String: String] = [:]) async throws -> CommandRun {
        try await Self.runners.run { [folder] _ in
            try CommandRun(arguments, in: folder, environment: environment)
        }
    }

    func header(_ name: String) throws -> ImageHeader {
        let bytes = try #require(FileManager.default.contents(atPath: "\(folder.path)/\(name)"))
        return try ImageHeader.inspect(SharedBytes([UInt8](bytes)))
    }

    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? []
    }

    @Test func `a file becomes a thumbnail in the format of its extension`() throws {
        folder.write("cat.jpg", jpeg)
        let run = try run("thumbnail", "cat.jpg", "--w", "40", "-o", "small.webp")
        #expect(run.status == 0 && run.text.isEmpty && run.errors.isEmpty)
        let header = try header("small.webp")
        #expect(header.format == .webp && header.size == PixelSize(width: 40, height: 30))
        let again = try self.run("thumbnail", "cat.jpg", "--w", "20", "-o", "small.webp")
        #expect(again.status == 1 && again.errors == "alula: small.webp: exists; --force replaces it\n")
        #expect(try self.header("small.webp").size.width == 40)
        #expect(try self.run("thumbnail", "cat.jpg", "--w", "20", "-o", "small.webp", "--force").status == 0)
        #expect(try self.header("small.webp").size.width == 20)
        #expect(names == ["cat.jpg", "small.webp"])
    }

    @Test func `results have the same bytes as the service's`() async throws {
        folder.write("cat.jpg", jpeg)
        try await withService { running in
            running.origin.serve("/cat.jpg", .image(jpeg))
            let query = "w=40&h=40&fit=cover&format=webp&q=70&sharpen=1"
            let served = try await running.thumbnail("/cat.jpg", query)
            let made = try await runAside(
                "thumbnail", "cat.jpg", "--w", "40", "--h", "40", "--fit", "cover", "--quality", "70", "--sharpen=1",
                "-o", "-", "--format", "webp")
            #expect(served.status == 200 && made.status == 0)
            #expect(made.output == served.body)
            let fetched = try await runAside(
                "thumbnail", running.origin.url("/cat.jpg"), "--w", "40", "--format", "webp", "-o", "-",
                environment: ["ALULA_ALLOWED_NETWORKS": "127.0.0.0/8"])
            #expect(fetched.status == 0)
            #expect(try ImageHeader.inspect(SharedBytes(fetched.output)).size == PixelSize(width: 40, height: 30))
            let rejected = try await runAside("thumbnail", running.origin.url("/cat.jpg"), "-o", "x.png")
            #expect(rejected.status == 1 && rejected.errors.contains("not fetched: allowedNetworks: "))
        }
    }

    @Test func `a failure is one plain line, and the other files are rendered`() throws {
        folder.write("cat.jpg", jpeg)
        folder.write("cat.txt", Array("no image".utf8))
        folder.write("empty.jpg", [])
        folder.write("half.jpg", Array(jpeg.prefix(jpeg.count / 2)))
        let run = try run(
            "thumbnail", "cat.txt", "gone.jpg", "empty.jpg", "half.jpg", "cat.jpg", "--w", "8", "-o", "out")
        #expect(run.status == 1 && run.text == "cat.jpg -> out/cat.jpg\n")
        let lines = run.errors.split(separator: "\n").sorted()
        #expect(
            lines.prefix(3) == [
                "alula: cat.txt: not an image", "alula: empty.jpg: empty", "alula: gone.jpg: no such file or directory",
            ])
        #expect(lines.count == 4 && lines[3].hasPrefix("alula: half.jpg: the source is damaged or incomplete"))
        #expect(try header("out/cat.jpg").size.width == 8)
    }

    @Test func `colliding names get numbers in the order of the sources`() throws {
        for place in ["a", "b", "c"] { folder.write("\(place)/cat.jpg", jpeg) }
        let run = try run("thumbnail", "b/cat.jpg", "a", "c/cat.jpg", "--w", "8", "-o", "out/")
        #expect(run.status == 0)
        #expect(
            Set(run.lines) == [
                "b/cat.jpg -> out/cat.jpg", "a/cat.jpg -> out/cat-2.jpg", "c/cat.jpg -> out/cat-3.jpg",
            ])
    }

    @Test func `standard input and output are a source and a destination`() throws {
        let run = try run("thumbnail", "-", "--w", "16", "--format", "png", "-o", "-", input: jpeg)
        #expect(run.status == 0 && run.errors.isEmpty)
        let header = try ImageHeader.inspect(SharedBytes(run.output))
        #expect(header.format == .png && header.size == PixelSize(width: 16, height: 12))
        let empty = try self.run("thumbnail", "-", "-o", "-")
        #expect(empty.status == 1 && empty.errors == "alula: standard input: empty\n")
    }

    @Test(arguments: [
        (["thumbnail", "a.jpg"], "missing -o FILE|FOLDER"), (["thumbnail", "-o", "x.png"], "missing source"),
        (["thumbnail", "a.jpg", "--w", "0", "-o", "x.png"], "--w: must be a whole number from 1 to 16384"),
        (["thumbnail", "a.jpg", "--nix", "-o", "x.png"], "unknown option --nix"),
        (["info"], "missing source"), (["info", "a.jpg", "--include", "x"], "--include: must be color, "),
        (["batch", "-o", "x"], "expected one LIST"), (["completion", "tcsh"], "expected one shell"),
        (["purge"], "missing URL, --tag or --all"), (["status", "x"], "unexpected argument x"),
        (["prefetch"], "missing URL"), (["nonsense"], "unknown command nonsense\n"),
        (["prefetch", "list.txt"], "list.txt: neither a URL nor a file"),
        (["batch", ".", "-o", "x"], "LIST is a file that names sources"),
        (["refresh"], "missing URL"), (["thumbnial"], "unknown command thumbnial; did you mean thumbnail?"),
        (["thumbnail", "a.jpg", "--widht", "8"], "unknown option --widht; did you mean --width?"),
        (["batch", "list", "--job", "8"], "unknown option --job; did you mean --jobs?"),
        (
            ["thumbnail", "a.jpg", "--sizes", "100", "-o", "x.png"],
            "--sizes is a setting of alula serve, and has no effect on this command; did you mean --w and --h?"
        ),
        (["batch", "list", "--size", "100", "-o", "x"], "unknown option --size; did you mean --w and --h?"),
        (["info", "a.jpg", "--port=80"], "--port is a setting of alula serve, and has no effect on this command"),
        (["purge", "--admin-prot", "8"], "unknown option --admin-prot; did you mean --admin-port?"),
        (
            ["thumbnail", "a.jpg", "b.jpg", "-o", "x.png"],
            "several results need a folder; write x.png/ if x.png is one"
        ),
        (["thumbnail", "a.jpg", "-w", "3,4", "-o", "-"], "-o - can hold only one result"),
        (["thumbnail", "a.jpg", "-o", "x/{nam}.png"], "the names of results may have {name} {dir} {w} {h} {format}"),
        (["thumbnail", "a.jpg", "--rendition", "w=x", "-o", "x/"], "--w: must be a whole number from 1 to 16384"),
        (["thumbnail", "a.jpg", "-o", "x.png", "--max-frames", "x"], "--max-frames: invalid value \"x\""),
        ([], "Usage: alula COMMAND"),
    ])
    func `a usage error has status 2 and a reason`(_ arguments: [String], _ reason: String) throws {
        let run = try CommandRun(arguments, in: folder)
        #expect(run.status == 2 && run.text.isEmpty && run.errors.contains(reason))
    }

    @Test func `info prints the service's JSON, one line each, in order`() throws {
        folder.write("b/2.jpg", jpeg)
        folder.write("b/1.png", ImageFixture.png.array)
        folder.write("cat.txt", [1])
        let run = try run("info", "b", "cat.txt", "b/2.jpg", "--include", "color,blurhash", "--components", "3x3")
        #expect(run.status == 1 && run.errors == "alula: cat.txt: not an image\n")
        #expect(run.lines.count == 3)
        #expect(run.lines[0].hasPrefix(#"{"url":"b/1.png","format":"png","mediaType":"image/png","#))
        #expect(
            run.lines[1].hasPrefix(
                #"{"url":"b/2.jpg","format":"jpeg","mediaType":"image/jpeg","width":160,"height":120,"#))
        #expect(run.lines.allSatisfy { $0.contains(#""dominantColor":"#) && $0.contains(#""blurHash":"#) })
    }

    @Test func `a stopped batch resumes`() throws {
        for number in 1...5 { folder.write("photos/\(number).jpg", jpeg) }
        folder.write("list", Array("# all\nphotos\n\nphotos/1.jpg\ngone.jpg\n".utf8))
        let first = try run("batch", "list", "--w", "8", "--format", "png", "-o", "out", "--jobs", "2")
        #expect(first.status == 1 && first.lines.count == 6)
        #expect(first.lines.contains("photos/1.jpg -> out/1-2.png"))
        #expect(first.errors.contains("alula: gone.jpg: no such file or directory\n6 rendered, 1 failed in "))
        let changed = { FileManager.default.contents(atPath: folder.path + "/out/1.png") }
        let before = changed()
        try FileManager.default.removeItem(atPath: folder.path + "/out/3.png")
        let second = try run("batch", "list", "--w", "8", "--format", "png", "-o", "out", "--resume", "--json")
        #expect(second.status == 1 && second.errors.isEmpty)
        #expect(second.lines.count == 8 && second.lines.count { $0.contains(#""status":"skipped""#) } == 5)
        #expect(second.lines.count { $0.contains(#""status":"made","file":"out/3.png""#) } == 1)
        #expect(second.lines.last == #"{"status":"finished","made":1,"skipped":5,"failed":1}"#)
        #expect(changed() == before)
        // Other options are different work, and existing files are replaced only on request.
        let other = try run("batch", "list", "--w", "9", "--format", "png", "-o", "out", "--resume")
        #expect(other.status == 1 && other.errors.contains("6 skipped, 1 failed"))
        #expect(other.lines.count { $0.contains(/^.* -> out\/[1-5](-2)?.png \(skipped: exists\)$/) } == 6)
        #expect(try header("out/1.png").size.width == 8)
        let forced = try run("batch", "list", "--w", "9", "--format", "png", "-o", "out", "--resume", "--force")
        #expect(forced.errors.contains("6 rendered, 1 failed"))
        #expect(try header("out/1.png").size.width == 9)
    }

    @Test func `a second run skips existing results, and --force replaces them`() throws {
        folder.write("cat.jpg", jpeg)
        let arguments = ["thumbnail", "cat.jpg", "--format", "png", "-o", "out/"]
        #expect(try CommandRun(arguments + ["--w", "8"], in: folder).status == 0)
        let second = try CommandRun(arguments + ["--w", "9"], in: folder)
        #expect(second.status == 0 && second.errors.isEmpty)
        #expect(
            try second.lines == ["cat.jpg -> out/cat.png (skipped: exists)"] && header("out/cat.png").size.width == 8)
        #expect(try CommandRun(arguments + ["--w", "9", "--force"], in: folder).status == 0)
        #expect(try header("out/cat.png").size.width == 9)
    }

    @Test func `names in a list may end in NUL only with -0`() throws {
        folder.write("a b\n#.jpg", jpeg)
        folder.write(" cat.jpg", jpeg)
        let list = Array("a b\n#.jpg\0 cat.jpg\0\0".utf8)
        let made = try CommandRun(
            ["batch", "-", "-0", "--w", "8", "--format", "png", "-o", "out"], in: folder, input: list)
        #expect(made.status == 0 && made.errors.contains("2 rendered"), "\(made.errors)")
        let wrong = try CommandRun(["batch", "-", "--w", "8", "-o", "wrong"], in: folder, input: list)
        #expect(wrong.status == 2 && wrong.errors.contains("LIST has NUL bytes; use -0"))
        #expect(names.filter { $0 == "wrong" }.isEmpty)
    }

    @Test func `a signature is appended to a target and to a whole URL`() throws {
        let key = ["ALULA_SIGNING_KEYS": String(repeating: "ab", count: 32)]
        let target = "/thumbnail?url=photos:a.jpg&w=300"
        let signed = try run("sign", target, environment: key)
        #expect(signed.status == 0 && signed.text.hasPrefix(target + "&sig="))
        let url = try run("sign", "https://img.example.com:8443" + target, environment: key)
        #expect(url.text == "https://img.example.com:8443" + signed.text)
        for wrong in ["https://img.example.com", "ftp://h/a?b=c", "https://h/a?b=c#d", "https://h/a"] {
            #expect(try run("sign", wrong, environment: key).status == 2, "\(wrong)")
        }
    }

    @Test func `a prefix of a command's name is enough`() throws {
        #expect(try run("thumb").errors.contains("unknown command thumb; did you mean thumbnail?"))
    }

    @Test func `a batch takes its list from standard input`() throws {
        folder.write("cat.jpg", jpeg)
        let run = try run("batch", "-", "--w", "8", "-o", "out", input: Array("cat.jpg\n".utf8))
        #expect(run.status == 0 && run.text == "cat.jpg -> out/cat.jpg\n")
    }

    @Test func `a signal ends a batch like any program, without partial files`() throws {
        folder.write("cat.jpg", ImageFixture.photo(width: 2_000, height: 1_500).array)
        folder.write("cat.txt", [1])
        let list = "cat.txt\n" + String(repeating: "cat.jpg\n", count: 2_000)
        let run = try CommandRun(
            ["batch", "-", "--w", "1900", "--format", "png", "-o", "out"], in: folder, input: Array(list.utf8),
            signal: SIGINT, whenErrorsHold: "cat.txt")
        #expect(run.status == nil && run.errors.contains("stopped"))
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path + "/out")
        where name != BatchRecord.name {
            #expect(try header("out/" + name).format == .png)
        }
    }

    @Test func `a full disk is reported in one line`() throws {
        folder.write("cat.jpg", jpeg)
        let run = try run("thumbnail", "cat.jpg", "--format", "png", "-o", "/dev/full")
        #expect(run.status == 1 && run.errors == "alula: /dev/full: no space left on device\n")
    }

    @Test func `the service answers its operators' commands`() async throws {
        try await withService { running in
            running.origin.serve("/cat.jpg", .image(jpeg))
            let port = ["ALULA_ADMIN_PORT": "\(running.service.adminServer.port)"]
            let url = running.origin.url("/cat.jpg")
            let made = try await runAside("prefetch", url, "--w", "20", "--wait", environment: port)
            #expect(made.status == 0 && made.text.hasSuffix(": 1 rendered, 0 failed\n"))
            let status = try await runAside("status", environment: port)
            #expect(status.status == 0 && status.text.contains("result cache"))
            let raw = try await runAside("status", "--json", environment: port)
            #expect(raw.text.hasPrefix("{\"version\":"))
            let purged = try await runAside("purge", url, environment: port)
            #expect(purged.status == 0 && purged.text.hasPrefix("\(url): 3 entries removed, "))
            let nothing = "nothing removed, because nothing was cached\n"
            #expect(try await runAside("purge", "--all", environment: port).text == nothing)
            #expect(try await runAside("purge", url, environment: port).text == "\(url): \(nothing)")
            let gone = running.origin.url("/gone.jpg")
            let failed = try await runAside("prefetch", url, gone, "http://10.0.0.1/a", "--wait", environment: port)
            #expect(failed.status == 1 && failed.text.hasSuffix(": 1 rendered, 2 failed\n"))
            #expect(failed.errors.contains("alula: \(gone): the origin has no such image\n"))
            #expect(failed.errors.contains("allowedNetworks: 10.0.0.1 is not public"))
            let fresh = try await runAside("refresh", url, gone, environment: port)
            #expect(
                fresh.status == 0
                    && fresh.text == "\(url): unchanged\n\(gone): gone from its origin, and from the caches\n")
            let rejected = try await runAside("refresh", "http://10.0.0.1/a", "ftp://h/a", environment: port)
            #expect(rejected.status == 1 && rejected.text.isEmpty)
            #expect(
                rejected.errors.contains(
                    "alula: http://10.0.0.1/a: the source is not fetched: allowedNetworks: 10.0.0.1 is not"))
            #expect(rejected.errors.contains("schemes: ftp is not http or https"))
            let wrong = try await runAside("prefetch", url, "--w", "0", environment: port)
            #expect(wrong.status == 2 && wrong.errors.contains("alula prefetch: --w: "))
        }
        let silent = try run("status", environment: ["ALULA_ADMIN_PORT": "1"])
        #expect(silent.status == 1)
        #expect(silent.errors == "alula: no service responds at 127.0.0.1:1 (adminBind, adminPort)\n")
    }

    @Test func `every command of the list has help`() throws {
        let commands = try run("--help").text.split(separator: "\n").compactMap { line in
            line.wholeMatch(of: #/  ([a-z-]+)  .*/#).map { String($0.output.1) }
        }
        #expect(commands.count > 10 && commands.contains("version"))
        for command in commands {
            let run = try run(command, "--help")
            #expect(run.status == 0 && run.errors.isEmpty, "\(command)")
            #expect(run.text.hasPrefix("Usage: alula \(command)"), "\(command)")
        }
        let wrong = try run("version", "now")
        #expect(wrong.status == 2 && wrong.errors.hasPrefix("alula version: unexpected argument now\n"))
    }

    @Test func `a program whose reader leaves ends silently`() throws {
        folder.write("cat.jpg", ImageFixture.photo(width: 1_200, height: 900).array)
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c", "\(BuiltExecutable.alula) thumbnail cat.jpg --format png -o - | head -c 1 > one; exit",
        ]
        process.currentDirectoryURL = URL(filePath: folder.path)
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(text == "alula: standard output: broken pipe\n")
    }
}
