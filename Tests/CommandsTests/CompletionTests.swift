import Dialects
import Foundation
import TestSupport
import Testing
import ThumbnailAPI

@testable import Commands
@testable import Settings

struct CompletionTests {
    private let scripts = [
        BashCompletion.script(CompletionTable.commands), ZshCompletion.script(CompletionTable.commands),
        FishCompletion.script(CompletionTable.commands),
    ]

    @Test func `all commands, parameters and settings are in all scripts`() {
        for script in scripts {
            for command in AlulaCommand.all { #expect(script.contains(command.description.name)) }
            for option in ThumbnailOption.all {
                for name in [option.name] + option.aliases { #expect(script.contains(name)) }
            }
            for setting in SettingTable.all { #expect(script.contains(setting.flag.dropFirst(2))) }
        }
    }

    @Test func `commands offer their options, and serve all settings`() throws {
        let serve = try #require(CompletionTable.commands.first { $0.name == "serve" })
        #expect(serve.options.contains { $0.name == "max-active-downloads" })
        #expect(serve.options.contains { $0.name == "check-config" })
        let sign = try #require(CompletionTable.commands.first { $0.name == "sign" })
        #expect(sign.options.map(\.name) == ["key", "key-id", "body", "content-type", "accept", "fields", "help"])
    }

    @Test(arguments: [
        ("alula th", "thumbnail"), ("alula thumbnail --watermarkO", "--watermarkOpacity"),
        ("alula thumbnail cat.jpg --fit c", "cover contain"), ("alula thumbnail --w 3", ""),
        ("alula serve --max-conn", "--max-connections --max-connections-per-address"),
        ("alula completion f", "fish"), ("alula info --include blur", "blurhash"),
    ])
    func `bash completes by the script`(_ line: String, _ expected: String) throws {
        let file = TemporaryFile(
            scripts[0]
                + "\nCOMP_WORDS=(\(line)); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _alula; echo \"${COMPREPLY[*]}\"\n")
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = [file.path]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(text == expected + "\n")
    }
}
