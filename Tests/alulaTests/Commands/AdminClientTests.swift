import JSON
import TestSupport
import Testing
import Text

@testable import Commands
@testable import Settings

struct AdminClientTests {
    private func client(of port: Int) throws -> AdminClient {
        try AdminClient(
            SettingsLoader.load(
                arguments: ["--admin-port", "\(port)"], environment: [:], readFile: { _ in "{}" }))
    }

    @Test func `a response has its status and its body`() throws {
        let origin = try FakeOrigin()
        defer { origin.stop() }
        origin.serve("/status", FakeResponse(status: 202, body: Array("{\"a\":1}".utf8)))
        let answer = try client(of: origin.port).blockingSend("GET", to: "/status")
        #expect(answer.status == 202 && answer.text == "{\"a\":1}")
        #expect(answer.json?.members?.count == 1)
        #expect(origin.requests.map(\.target) == ["/status"])
    }

    @Test func `a rejection is reported in the service's words`() throws {
        let origin = try FakeOrigin()
        defer { origin.stop() }
        origin.serve("/x", FakeResponse(status: 400, body: Array(#"{"code":"bad_url","detail":"No URL."}"#.utf8)))
        #expect(throws: CommandFailure(code: "bad_url", reason: "no URL")) {
            try client(of: origin.port).blockingJSON("GET", to: "/x")
        }
    }

    @Test func `a token in the environment or the file goes to the admin listener, and only there`() throws {
        let origin = try FakeOrigin()
        defer { origin.stop() }
        origin.serve("/cache", FakeResponse(status: 200, body: Array("{}".utf8)))
        origin.serve("/health/ready", FakeResponse(status: 200, body: []))
        let folder = TemporaryFolder()
        folder.write("alula.json5", Array("{ adminToken: { env: \"TOKEN\" } }".utf8))
        for (arguments, environment) in [
            ([], ["ALULA_ADMIN_TOKEN": "geheim"]), (["--config", "alula.json5"], ["TOKEN": "geheim"]),
        ] {
            let run = try CommandRun(
                ["purge", "--all", "--admin-port", "\(origin.port)"] + arguments, in: folder, environment: environment)
            #expect(run.status == 0, "\(run.errors)")
            #expect(origin.requests.last?.value("Authorization") == "Bearer geheim")
        }
        folder.write(
            "alula.json5", Array("{ adminToken: { env: \"TOKEN\" }, signingKeys: { file: \"/nowhere\" } }".utf8))
        let without = try CommandRun(
            ["purge", "--all", "--admin-port", "\(origin.port)", "--config", "alula.json5"], in: folder)
        #expect(without.status == 0 && origin.requests.last?.value("Authorization") == nil, "\(without.errors)")
        let ready = try CommandRun(
            ["status", "--ready", "--port", "\(origin.port)"], in: folder, environment: ["ALULA_ADMIN_TOKEN": "geheim"])
        #expect(ready.status == 0 && origin.requests.last?.value("Authorization") == nil)
    }

    @Test func `a job's error names its source`() throws {
        let origin = try FakeOrigin()
        defer { origin.stop() }
        let problem = #"{"code":"bad_body","detail":"No room.","parameter":"/sources/1/renditions/0/to"}"#
        origin.serve("/prefetch", FakeResponse(status: 400, body: Array(problem.utf8)))
        let folder = TemporaryFolder()
        folder.write("list", Array("# two\nhttps://a.example/1.jpg\nhttps://a.example/2.jpg\n".utf8))
        let run = try CommandRun(
            ["prefetch", "list", "--to", "out:{name}.webp", "--admin-port", "\(origin.port)"], in: folder)
        #expect(run.status == 1 && run.errors.contains("https://a.example/2.jpg: no room"), "\(run.errors)")
    }

    @Test func `an unreachable or foreign service is an error`() throws {
        let origin = try FakeOrigin()
        origin.serve("/", .closing)
        let client = try client(of: origin.port)
        #expect(throws: CommandFailure.self) { try client.blockingSend("GET", to: "/") }
        origin.stop()
        #expect(throws: CommandFailure.self) { try client.blockingSend("GET", to: "/") }
    }

    @Test func `readiness is checked at the address in the settings`() throws {
        let origin = try FakeOrigin()
        let folder = TemporaryFolder()
        func run(_ arguments: [String] = [], environment: [String: String] = [:]) throws -> CommandRun {
            try CommandRun(["status", "--ready"] + arguments, in: folder, environment: environment)
        }
        origin.serve("/health/ready", FakeResponse(status: 200, body: Array("ok".utf8)))
        folder.write("alula.json5", Array("{ port: \(origin.port), bind: \"0.0.0.0\" }".utf8))
        for ready in [
            try run(environment: ["ALULA_PORT": "\(origin.port)"]),
            try run(environment: ["ALULA_CONFIG": folder.path + "/alula.json5"]),
            try run(["--port", "\(origin.port)"]),
        ] { #expect(ready.status == 0 && ready.text.isEmpty && ready.errors.isEmpty) }
        origin.serve("/health/ready", FakeResponse(status: 503, body: []))
        let draining = try run(["--port", "\(origin.port)"])
        #expect(draining.status == 1 && draining.errors.contains("503"))
        #expect(try run(["--port", "0"]).status == 1)
        #expect(try run(["--json", "--port", "\(origin.port)"]).status == 2)
        origin.stop()
        #expect(try run(["--port", "\(origin.port)"]).status == 1)
    }

    @Test func `the summary shows the service's values`() throws {
        let status = try JSONReader.value(
            in: Array(
                #"{"version":"1.2.3","uptimeSeconds":93784,"draining":false,"activeDownloads":3,"queuedDownloads":2,"activeRenders":1,"origins":[{"origin":"https://a.example","state":"suspended","retryAfterSeconds":2.5,"cause":"no_response"},{"origin":"https://b.example","state":"reachable"},{"origin":"https://c.example","state":"reachable"}],"waiting":[{"for":"slot","host":"a.example","count":2,"seconds":0.42},{"for":"memory","count":1,"seconds":-1e300},{"for":"origin","count":1,"seconds":1e300},{"for":"small work","count":13,"seconds":3}],"tenants":[{"name":"shop","requests":720,"refusals":{"overloaded":65,"bad_url":1},"processorSeconds":12.34,"waiting":8},{"name":"default","requests":1,"refusals":{},"processorSeconds":0}]}"#
                    .utf8))
        let caches = try JSONReader.value(
            in: Array(#"{"decoded":{"bytes":1572864,"capacity":104857600,"preferred":1,"entries":7}}"#.utf8))
        #expect(
            StatusText.lines(status: try #require(status.members), caches: caches) == [
                "service        1.2.3, running, up for 1 d 2 h", "downloads      3 running, 2 waiting",
                "renders        1 running", "decoded cache  1.5 MiB of 100.0 MiB (2 %), 7 entries",
                "waiting        2 for slot a.example, 0.4 s", "waiting        1 for memory, 0.0 s",
                "waiting        1 for origin, ? s", "waiting        13 for small work, 3.0 s",
                "tenant         shop: 12.3 s of processor time in the last minute, 720 requests, 1 bad_url, 65 overloaded, 8 waiting",
                "tenant         default: 0.0 s of processor time in the last minute, 1 request",
                "origin         https://a.example: suspended (no response), next try in 3 s",
                "origin         2 others reachable",
            ])
        #expect(StatusText.lines(status: [:], caches: nil) == ["service  ?, running, up for 0 s"])
    }
}
