import HTTPTypes
package import Recipes
import Text

package enum AcceptedFormats {
    /// Returns the weights of explicitly named formats, in thousandths.
    ///
    /// Omits formats with `q=0` or an invalid weight. If a format is named twice, the higher weight applies.
    package static func qualities(_ accept: String?) -> [ImageFormat: Int] {
        guard let accept else { return [:] }
        var qualities: [ImageFormat: Int] = [:]
        for member in HTTPSyntax.list(accept) {
            guard let type = MediaType(member), let format = ImageFormat(mediaType: type.description),
                let weight = weight(of: member), weight > 0
            else { continue }
            qualities[format] = max(weight, qualities[format] ?? 0)
        }
        return qualities
    }

    /// Returns the formats that `Accept` names, best first, ignoring wildcards.
    static func named(of formats: [ImageFormat], in accept: String?) -> [ImageFormat] {
        let weights = qualities(accept)
        return formats.enumerated().filter { weights[$0.element] != nil }.sorted { one, other in
            let first = weights[one.element] ?? 0
            let second = weights[other.element] ?? 0
            return first == second ? one.offset < other.offset : first > second
        }.map(\.element)
    }

    package static func weight(of member: String) -> Int? {
        for parameter in HTTPSyntax.list(member, separator: UInt8(ascii: ";")).dropFirst() {
            let name = HTTPSyntax.trimmed(parameter.prefix(before: UInt8(ascii: "=")))
            guard name.asciiLowercased == "q" else { continue }
            return thousandths(HTTPSyntax.trimmed(parameter.suffix(after: UInt8(ascii: "=")) ?? ""))
        }
        return 1_000
    }

    /// Reads 0 to 1 with at most three decimals; a trailing point is allowed.
    private static func thousandths(_ text: String) -> Int? {
        ParameterGrammar.thousandths(text.hasSuffix(".") ? text + "0" : text, in: 0...1_000)
    }
}
