import Recipes
import Text
package import ThumbnailTypes

/// For the command line's options, help and completion.
package struct ThumbnailOption: Sendable {
    package let name: String
    package let aliases: [String]
    package let form: String
    package let values: [String]
    package let help: String

    package static let all: [ThumbnailOption] = ThumbnailParameter.all.filter { $0.uses.contains(.renditions) }.map {
        ThumbnailOption(name: $0.name, aliases: $0.aliases, form: $0.form, values: $0.values, help: $0.help)
    }

    package static func named(_ name: String) -> ThumbnailOption? {
        all.first { $0.name == name || $0.aliases.contains(name) }
    }
}

extension NativeDialect {
    package func request(options: [(name: String, value: String)]) throws(APIError) -> Request {
        try rendition(Self.query(options: options), of: Self.uploadedSource, accept: nil)
    }

    package static func query(options: [(name: String, value: String)]) -> String {
        options.map { "\(URLEscape.encode($0.name))=\(URLEscape.encode($0.value))" }.joined(separator: "&")
    }
}
