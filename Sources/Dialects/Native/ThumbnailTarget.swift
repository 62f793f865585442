import Text
package import ThumbnailTypes

package enum ThumbnailTarget {
    package static let path = "/thumbnail"

    /// Parses a raw target, without checking its signature (see ``URLSigner``).
    ///
    /// - Parameters:
    ///   - target: The target with `Accept` for negotiated formats, and hints for `auto`.
    ///   - vocabulary: The watermarks and presets that the target may name, and the sizes for `auto`.
    package static func parse(
        _ target: RequestedTarget, vocabulary: Vocabulary = Vocabulary()
    ) throws(APIError) -> Request {
        let query = RawQuery(target: target.target.string)
        let parameters = try query.decoded()
        func read(over levels: [Vocabulary.Preset]) throws(APIError) -> ThumbnailParameterValues {
            var reader = ThumbnailParameterReader(vocabulary)
            for level in levels {
                for (name, value) in level { try reader.read(name: name, value: value, isLast: false) }
                reader.override()
            }
            try query.read(parameters) { name, value, isLast throws(APIError) in
                try vocabulary.admit(name)
                try reader.read(name: name, value: value, isLast: isLast)
            }
            return reader.values
        }
        var values = try read(over: [])
        let levels = vocabulary.levels(below: values.presets)
        if !levels.isEmpty { values = try read(over: levels) }
        var result = try values.request(accept: target.accept?.string, hints: target.hints)
        if !levels.isEmpty {
            result.choices = parameters.reduce(into: []) {
                $0.formUnion(ThumbnailParameter.named($1.name)?.choices ?? [])
            }
        }
        return result
    }

    package static func parse(
        _ target: String, accept: String?, vocabulary: Vocabulary = Vocabulary()
    ) throws(APIError) -> Request {
        try parse(RequestedTarget(target, accept: accept), vocabulary: vocabulary)
    }

    /// Writes a query with main names in a fixed order, without defaults; nil for a request of another dialect.
    ///
    /// Omits negotiated formats, because they are in `Accept`, and the page of an animation, which has no effect.
    package static func generate(_ request: Request) -> String? {
        guard let values = ThumbnailParameterValues(of: request) else { return nil }
        let parameters = ThumbnailParameter.all.compactMap { row in row.write(values).map { "\(row.name)=\($0)" } }
        return "\(path)?\(parameters.joined(separator: "&"))"
    }
}

struct ThumbnailParameterReader {
    private(set) var values: ThumbnailParameterValues
    private var seen: Set<ExactText> = []

    init(_ vocabulary: Vocabulary) { values = ThumbnailParameterValues(vocabulary) }

    /// Lets subsequent parameters override earlier ones.
    mutating func override() { seen = [] }

    mutating func read(name: String, value: String, isLast: Bool) throws(APIError) {
        guard let parameter = ThumbnailParameter.named(name) else {
            throw .unknown(name, among: ThumbnailParameter.names)
        }
        guard seen.insert(ExactText(parameter.name)).inserted else { throw .repeatedParameter(name) }
        if parameter.name == "sig" { try URLSigner.checkForm(value, parameter: name, isLast: isLast) }
        try parameter.read(value, name, &values)
    }
}
