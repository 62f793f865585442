package struct NamedSource: Hashable, Sendable {
    /// The source under the rules of the instance that sends the notice.
    package let source: SharedSource
    /// The name of the source, which each instance parses under its own rules.
    package let name: String

    private static let maximumNameBytes = 4_096

    package init?(_ source: SharedSource, name: String) {
        guard name.utf8.count <= Self.maximumNameBytes, !name.utf8.contains(0) else { return nil }
        self.source = source
        self.name = name
    }

    init?(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count >= SharedSource.labelLength,
            let source = SharedSource(label: Array(bytes.prefix(SharedSource.labelLength))),
            let name = String(validating: bytes.dropFirst(SharedSource.labelLength), as: UTF8.self)
        else { return nil }
        self.init(source, name: name)
    }

    var encoded: [UInt8] { source.label + Array(name.utf8) }

    /// The size in memory while the source waits to be written under its tag.
    var queuedLength: Int { 512 + name.utf8.count }
}
