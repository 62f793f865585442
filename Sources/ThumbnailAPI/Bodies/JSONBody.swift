import Dialects
import HTTPTypes
import JSON
import Text

enum JSONBody {
    static func isDeclared(in fields: HTTPFields) -> Bool {
        fields[.contentType].flatMap { MediaType($0) }?.description == "application/json"
    }

    static func value(in body: [UInt8]) throws(APIError) -> JSONValue {
        do {
            return try JSONReader.value(in: body)
        } catch {
            throw .badBody("", "The body is no JSON: \(error.reason), at byte \(error.offset).")
        }
    }

    static func members(
        of value: JSONValue, at place: String, allowing names: Set<ExactText>
    ) throws(APIError) -> [ExactText: JSONValue] {
        guard let members = value.members else { throw .badBody(place, "Must be an object.") }
        for name in members.keys.sorted() where !names.contains(name) {
            let nearest = NearestName.of(name.string, among: names.map(\.string).sorted())
            throw .badBody(
                "\(place)/\(name.string.prefix(APIError.longestQuotedName))",
                nearest.map { "Unknown member; did you mean \($0)?" } ?? "Unknown member.")
        }
        return members
    }

    static func elements(
        of members: [ExactText: JSONValue], named name: String, at place: String
    ) throws(APIError) -> [JSONValue] {
        guard case .array(let elements)? = members[ExactText(name)], !elements.isEmpty else {
            throw .badBody("\(place)/\(name)", "Must be a list that is not empty.")
        }
        return elements
    }
}
