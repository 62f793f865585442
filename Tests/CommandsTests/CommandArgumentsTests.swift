import Dialects
import Testing
import ThumbnailAPI

@testable import Commands

struct CommandArgumentsTests {
    private func sorted(_ arguments: String...) throws -> CommandArguments {
        try CommandArguments(arguments, for: ThumbnailCommand.description)
    }

    private func fault(_ arguments: String...) -> String? {
        do throws(UsageError) {
            _ = try CommandArguments(arguments, for: ThumbnailCommand.description)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `options, parameters, settings and sources are distinguished in any order`() throws {
        let sorted = try sorted(
            "a.jpg", "--w", "300", "--trimColor=red", "-o", "out/", "--force", "--allowed-networks", "10.0.0.0/8",
            "--config=x.json5", "-", "--watermarkX", "-10", "--", "--b.jpg")
        #expect(sorted.operands == ["a.jpg", "-", "--b.jpg"])
        #expect(sorted.parameters.map(\.name) == ["w", "trimColor", "watermarkX"])
        #expect(sorted.parameters.map(\.value) == ["300", "red", "-10"])
        #expect(sorted.settings == ["--allowed-networks", "10.0.0.0/8", "--config", "x.json5"])
        #expect(sorted.value(of: .output("", help: "")) == "out/")
        #expect(sorted.has(.force) && !sorted.has(.recursive))
    }

    @Test func `a parameter is an option by each of its names`() throws {
        for option in ThumbnailOption.all {
            for name in [option.name] + option.aliases {
                let sorted = try sorted("--" + name, "1")
                #expect(sorted.parameters.first?.name == name)
            }
        }
    }

    @Test func `a parameter of a single request is not an option`() {
        for name in ["url", "sig", "expires", "placeholder"] {
            #expect(fault("--" + name, "1") == "unknown option --\(name)")
        }
    }

    @Test func `a usage error names the option`() {
        #expect(fault("--nonsense") == "unknown option --nonsense")
        #expect(fault("-x") == "unknown option -x")
        #expect(fault("--w") == "--w needs a value: PIXELS|auto")
        #expect(fault("--w", "--h", "3") == "--w needs a value: PIXELS|auto")
        #expect(fault("--force=yes") == "--force takes no value")
        #expect(fault("-o", "a", "--output", "b") == "--output is repeated")
    }

    @Test func `numbers have limits`() throws {
        let sorted = try CommandArguments(["--jobs", "0"], for: BatchCommand.description)
        #expect(throws: UsageError("--jobs: expected a whole number from 1 to 8")) {
            try sorted.number(.jobs, in: 1...8)
        }
        #expect(try CommandArguments(["--jobs=3"], for: BatchCommand.description).number(.jobs, in: 1...8) == 3)
    }

    @Test func `the help names every option and parameter`() {
        let help = ThumbnailCommand.description.helpText
        for option in ThumbnailOption.all { #expect(help.contains("--\(option.name)")) }
        for option in ThumbnailCommand.description.allOptions { #expect(help.contains(option.heading)) }
        #expect(help.split(separator: "\n").allSatisfy { $0.count <= 132 })
    }

    @Test func `a faulty parameter is worded as an option`() {
        let error = APIError.badParameter("fx", "Requires gravity=focal.")
        #expect(error.usageError == UsageError("--fx: requires --gravity focal"))
    }
}
