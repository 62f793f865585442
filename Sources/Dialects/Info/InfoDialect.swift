import Recipes
import Text
package import ThumbnailTypes

package struct InfoDialect: NativelySignedDialect {
    package static let path = "/info"

    package let name = "info"
    package let keys: SigningKeys
    private let vocabulary: Vocabulary

    package init(_ keys: SigningKeys = SigningKeys(), vocabulary: Vocabulary = Vocabulary()) {
        self.keys = keys
        self.vocabulary = vocabulary
    }

    package func match(on target: String) -> DialectMatch {
        target.prefix(before: UInt8(ascii: "?")) == Self.path ? .exact : .none
    }

    package func request(in target: RequestedTarget) throws(APIError) -> Request {
        var reader = InfoReader()
        let query = RawQuery(target: keys.unnamed(target.target.string))
        try query.read(query.decoded()) { name, value, isLast throws(APIError) in
            try reader.read(name: name, value: value, isLast: isLast)
        }
        var read = try reader.request()
        guard vocabulary.findsFaces || read.form.facts?.includesFaces != true else {
            throw .withoutFaces(InfoParameter.include.rawValue)
        }
        read.source = ExactText(vocabulary.source(read.source.string))
        return read
    }
}

extension InfoDialect {
    package static func facts(options: [(name: String, value: String)]) throws(APIError) -> FactsRequest {
        var reader = InfoReader()
        try reader.read(name: InfoParameter.url.rawValue, value: NativeDialect.uploadedSource, isLast: false)
        for (name, value) in options { try reader.read(name: name, value: value, isLast: false) }
        return try reader.request().form.facts ?? FactsRequest()
    }
}

private enum InfoParameter: String, CaseIterable {
    case url, include, components, expires
    case signature = "sig"
}

struct InfoReader {
    private var seen: Set<InfoParameter> = []
    private var source: String?
    private var facts = FactsRequest()
    private var expires: Int?

    mutating func read(name: String, value: String, isLast: Bool) throws(APIError) {
        guard let parameter = InfoParameter(rawValue: name) else {
            throw .unknown(name, among: InfoParameter.allCases.map(\.rawValue))
        }
        guard seen.insert(parameter).inserted else { throw .repeatedParameter(name) }
        switch parameter {
        case .url: source = try ParameterGrammar.source(value)
        case .include: try Self.include(value, in: &facts)
        case .components: (facts.columns, facts.rows) = try Self.components(value)
        case .expires: expires = try ParameterGrammar.expires(value, parameter: name)
        case .signature: try URLSigner.checkForm(value, parameter: name, isLast: isLast)
        }
    }

    func request() throws(APIError) -> Request {
        guard let source else { throw .missingParameter(InfoParameter.url.rawValue) }
        guard !seen.contains(.components) || facts.features.contains(.blurHash) else {
            throw .badParameter(InfoParameter.components.rawValue, "Requires include=blurhash.")
        }
        var request = Request(source: ExactText(source), expires: expires)
        request.form.facts = facts
        return request
    }

    static func include(_ text: String, in facts: inout FactsRequest) throws(APIError) {
        for name in text.asciiLowercased.split(separator: ",", omittingEmptySubsequences: false) {
            let parameter = InfoParameter.include.rawValue
            let isNew: Bool
            if let feature = ImageAppearance.Feature(rawValue: String(name)) {
                isNew = facts.features.insert(feature).inserted
            } else if name == "faces" {
                isNew = !facts.includesFaces
                facts.includesFaces = true
            } else if let texts = FactsRequest.Texts(rawValue: String(name)) {
                isNew = facts.texts.insert(texts).inserted
            } else {
                let features = ImageAppearance.Feature.allCases.map(\.rawValue)
                throw .badChoice(parameter, allowed: features + FactsRequest.Texts.allCases.map(\.rawValue) + ["faces"])
            }
            guard isNew else { throw .badParameter(parameter, "Names \(name) twice.") }
        }
    }

    private static func components(_ text: String) throws(APIError) -> (Int, Int) {
        let digits = Array(text.utf8)
        guard digits.count == 3, digits[1] == UInt8(ascii: "x"),
            let columns = ParameterGrammar.integer(text.prefix(1), in: 1...9),
            let rows = ParameterGrammar.integer(text.suffix(1), in: 1...9)
        else { throw .badParameter(InfoParameter.components.rawValue, "Must be columns and rows, 1x1 to 9x9.") }
        return (columns, rows)
    }
}
