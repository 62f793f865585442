// Nothing else is here: top-level code is isolated, and C must not call callbacks formed in isolated code.
if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--write" {
    ImageCorpus.write(to: CommandLine.arguments[2])
} else {
    ScriptedOrigin.run()
}
