package import Telemetry
package import Text

/// How a request appears in logs; created once per target.
package final class RequestLabel: Sendable {
    package let fields: [(String, Logger.MetadataValue)]

    /// - Parameters:
    ///   - target: The target without sources, signatures and keys.
    ///   - keyID: The ID of the key that signed it.
    package init(target: String, source: String?, tenant: ExactText = "default", keyID: String?) {
        var fields: [(String, Logger.MetadataValue)] = [("target", .string(target))]
        if let source { fields.append(("source", .string(SourceLabel.text(source)))) }
        fields.append(("tenant", .string(tenant.string)))
        if let keyID { fields.append(("key", .string(keyID))) }
        self.fields = fields
    }
}
