import Dialects
import HTTPTypes
import Text
import ThumbnailPipeline
import ThumbnailTypes

enum AdminParameter: String {
    case url, tag, types, after, target, accept, source, origin
}

struct AdminParameters {
    private var values: [AdminParameter: String] = [:]

    /// Rejects parameters that are unknown, repeated or malformed.
    init(target: String, allowed: Set<AdminParameter>) throws(APIError) {
        let query = RawQuery(target: target)
        try query.read(query.decoded()) { name, value, _ throws(APIError) in
            guard let parameter = AdminParameter(rawValue: name), allowed.contains(parameter) else {
                throw .unknown(name, among: allowed.map(\.rawValue).sorted())
            }
            guard values.updateValue(value, forKey: parameter) == nil else {
                throw .repeatedParameter(parameter.rawValue)
            }
        }
    }

    subscript(parameter: AdminParameter) -> String? { values[parameter] }

    /// Returns the source; it need not be a URL.
    func source() throws(APIError) -> ExactText? {
        guard let text = values[.url] else { return nil }
        return ExactText(try ParameterGrammar.source(text))
    }

    func tag() throws(APIError) -> ExactText? {
        guard let text = values[.tag] else { return nil }
        let name = AdminParameter.tag.rawValue
        guard CacheTag.isTag(text) else { throw .badParameter(name, CacheTag.form) }
        guard values[.url] == nil else { throw .badParameter(name, "Excludes url.") }
        return ExactText(text)
    }

    /// Returns the origin; a colon after its name is removed.
    func requiredOrigin() throws(APIError) -> ExactText {
        let name = AdminParameter.origin.rawValue
        guard let text = values[.origin] else { throw .missingParameter(name) }
        guard !text.isEmpty else { throw .badParameter(name, "Must not be empty.") }
        return ExactText(text.hasSuffix(":") ? String(text.dropLast()) : text)
    }

    func requiredSource() throws(APIError) -> ExactText {
        guard let source = try source() else { throw .missingParameter(AdminParameter.url.rawValue) }
        return source
    }
}
