// Nothing else happens here: top-level code is isolated, and callbacks formed in isolated code must not reach C.
if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--write" {
    ImageCorpus.write(to: CommandLine.arguments[2])
} else {
    ScriptedOrigin.run()
}
