import Downloading
import Recipes
import Text

extension ResultKey {
    /// - Parameter versions: Release and library versions; empty if another part of the key has them.
    func name(versions: String = "") -> [UInt8] {
        var writer = RecordWriter()
        writer.write(versions)
        let texts = plan.keyTexts
        writer.write(texts.count)
        for text in texts { writer.write(text) }
        return additional.reduce(source.storedName + writer.bytes + validator.encoded) { bytes, version in
            bytes + version.source.storedName + version.validator.encoded
        }
    }
}

extension SourceIdentity {
    /// Includes the rules: sources fetched under different rules are different sources.
    var storedName: [UInt8] {
        var writer = RecordWriter()
        writer.write(originName != nil)
        writer.write(originName ?? "")
        writer.write(rules.key)
        writer.write(url.canonical)
        if let tenant { writer.write("tenant \(tenant.string)") }
        if let clientFields { writer.write(clientFields.digest) }
        return writer.bytes
    }

    /// Omits the rules, so that a removal also reaches values stored under earlier rules.
    var removalName: [UInt8] {
        var writer = RecordWriter()
        writer.write(originName ?? "")
        writer.write(url.canonical)
        return writer.bytes
    }
}
