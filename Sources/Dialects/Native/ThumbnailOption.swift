import Imaging
package import ThumbnailTypes

/// A parameter of `/thumbnail` as people read about it: the options of the command line, its help and its completion
/// are made of these.
package struct ThumbnailOption: Sendable {
    /// The main name.
    package let name: String
    /// Other names of the same parameter.
    package let aliases: [String]
    /// The values in one word, such as `PIXELS`.
    package let form: String
    /// All values, if they are few words.
    package let values: [String]
    /// The effect, in one line.
    package let help: String

    /// All parameters that say how a result looks, in the order of the contract.
    package static let all: [ThumbnailOption] = ThumbnailParameter.rows.compactMap { name, row in
        guard row.uses.contains(.renditions) else { return nil }
        return ThumbnailOption(name: name, aliases: row.aliases, form: row.form, values: row.values, help: row.help)
    }

    /// The parameter of this name or alias.
    package static func named(_ name: String) -> ThumbnailOption? {
        all.first { $0.name == name || $0.aliases.contains(name) }
    }
}

extension NativeDialect {
    /// The request that options make of a source that stands elsewhere; the same reader reads them as the parameters of
    /// a target.
    ///
    /// - Throws: ``APIError`` that names the first option that is wrong.
    package func request(options: [(name: String, value: String)]) throws(APIError) -> ThumbnailRequest {
        try rendition(Self.query(options: options), of: Self.uploadedSource, accept: nil).request
    }

    /// The options as a query of `/thumbnail`.
    package static func query(options: [(name: String, value: String)]) -> String {
        options.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }
}
