import Text
import ThumbnailTypes

package struct RawQuery {
    struct Parameter {
        let name: ArraySlice<UInt8>
        let value: ArraySlice<UInt8>
    }

    let parameters: [Parameter]

    package init(target: String) {
        let bytes = Array(target.utf8)
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")), mark + 1 < bytes.count else {
            parameters = []
            return
        }
        parameters = bytes[(mark + 1)...].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map {
            parameter in
            let equals = parameter.firstIndex(of: UInt8(ascii: "=")) ?? parameter.endIndex
            return Parameter(name: parameter[..<equals], value: parameter[min(equals + 1, parameter.endIndex)...])
        }
    }

    /// - Parameter isForm: A plus stands for a space (application/x-www-form-urlencoded).
    package func decoded(isForm: Bool = false) throws(APIError) -> [(name: String, value: String)] {
        func text(_ bytes: ArraySlice<UInt8>) -> String? {
            guard isForm, bytes.contains(UInt8(ascii: "+")) else { return URLEscape.decodeText(bytes) }
            return URLEscape.decodeText(bytes.flatMap { $0 == UInt8(ascii: "+") ? Array("%20".utf8) : [$0] }[...])
        }
        var result: [(name: String, value: String)] = []
        result.reserveCapacity(parameters.count)
        for parameter in parameters {
            guard let name = text(parameter.name) else {
                throw .unknownParameter(
                    String(decoding: parameter.name.prefix(APIError.longestQuotedName), as: UTF8.self))
            }
            guard let value = text(parameter.value) else {
                throw name == "url"
                    ? .badURL("The value is not percent-encoded UTF-8.")
                    : .badParameter(
                        String(name.prefix(APIError.longestQuotedName)), "The value is not percent-encoded UTF-8.")
            }
            result.append((name, value))
        }
        return result
    }

    /// Passes each parameter to `read`, and explains its errors.
    package func read(
        _ parameters: [(name: String, value: String)],
        by read: (_ name: String, _ value: String, _ isLast: Bool) throws(APIError) -> Void
    ) throws(APIError) {
        for (index, parameter) in parameters.enumerated() {
            do throws(APIError) { try read(parameter.name, parameter.value, index == parameters.count - 1) } catch {
                throw explained(error, of: index)
            }
        }
    }

    /// Returns the error, or its cause if `url` contains a query that is not percent-encoded.
    ///
    /// The rest of that query is then parsed as parameters of the request.
    private func explained(_ error: APIError, of index: Int) -> APIError {
        let isCut = parameters[..<index].contains { parameter in
            parameter.name.elementsEqual("url".utf8) && parameter.value.contains(UInt8(ascii: "?"))
        }
        guard isCut, let name = error.parameter, error.isAboutName || error == .repeatedParameter(name) else {
            return error
        }
        return .badURL(
            "The URL is not percent-encoded, so its query ends at the first & and \(name) counts as a parameter of "
                + "this request; write ? as %3F, & as %26 and = as %3D in it.")
    }
}

enum FormQuery {
    /// Returns the decoded parameters in order, with a plus as a space; nil if one is not percent-encoded UTF-8.
    static func parameters(of target: String) -> [(name: String, value: String)]? {
        (try? RawQuery(target: target).decoded(isForm: true))?.filter { !($0.name.isEmpty && $0.value.isEmpty) }
    }

    /// Returns the query sorted by name, keeping the order of values with the same name, and encoded as Go does.
    static func text(sorting parameters: [(name: String, value: String)]) -> String {
        let sorted = parameters.enumerated().sorted { one, other in
            let first = ExactText(one.element.name)
            let second = ExactText(other.element.name)
            return first == second ? one.offset < other.offset : first < second
        }
        return sorted.map { "\(encoded($0.element.name))=\(encoded($0.element.value))" }.joined(separator: "&")
    }

    private static func encoded(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { URLEscape.encode(String($0)) }
            .joined(separator: "+")
    }
}
