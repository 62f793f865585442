import JSON
import Recipes
import Text

enum ImaginaryPipelineText {
    private static let maximum = 10
    private static let parameter = "operations"

    struct Step: Hashable {
        var name = ""
        var mayFail = false
        var parameters: [Parameter] = []
    }

    struct Parameter: Hashable {
        let name: ExactText
        let value: ImaginaryValue
    }

    static func steps(in text: String) throws(APIError) -> [Step] {
        // imaginary treats texts this short as empty.
        guard text.utf8.count >= 2 else { return [] }
        let list: JSONValue
        do {
            list = try JSONReader.firstValue(in: Array(text.utf8))
        } catch {
            throw fault("It is not JSON: \(error.reason), after \(error.offset) bytes.")
        }
        switch list {
        case .null: return []
        case .array(let members):
            var steps: [Step] = []
            for member in members { steps.append(try step(member)) }
            return steps
        default: throw fault("It is not a list.")
        }
    }

    static func operations(_ steps: [Step]) throws(APIError) -> [ImaginaryOperation] {
        guard !steps.isEmpty else { throw .missingParameter(parameter) }
        guard steps.count <= maximum else { throw fault("At most \(maximum) operations are allowed.") }
        var operations: [ImaginaryOperation] = []
        for step in steps {
            guard let name = ImaginaryOperation.Name(inPipeline: step.name) else {
                throw fault("Unknown operation \(step.name.prefix(APIError.longestQuotedName)).")
            }
            do throws(APIError) {
                var operation = try operation(name, step: step)
                operation.mayFail = step.mayFail
                operations.append(operation)
            } catch {
                guard step.mayFail else { throw error }
            }
        }
        return operations
    }

    private static func operation(_ name: ImaginaryOperation.Name, step: Step) throws(APIError) -> ImaginaryOperation {
        var options = ImaginaryOptions()
        for parameter in step.parameters { try options.set(parameter.name.string, to: parameter.value) }
        // Unknown format names select the image's format.
        let meansNothing = options.type == "auto" || ImaginaryType.isUnknown(options.type)
        return try ImaginaryOperation(
            name, options: options, format: meansNothing ? nil : ImaginaryType.format(options.type))
    }

    private static func step(_ value: JSONValue) throws(APIError) -> Step {
        guard case .object(let members) = value else { throw fault("A member of the list is not an object.") }
        var step = Step()
        for (name, value) in members {
            switch (name.asciiLowercased, value) {
            case ("operation", .string(let text)): step.name = text
            case ("ignore_failure", .bool(let flag)): step.mayFail = flag
            case ("params", .object(let values)):
                step.parameters = values.map { Parameter(name: ExactText($0.0), value: ImaginaryValue($0.1)) }
            case ("operation", .null), ("ignore_failure", .null), ("params", .null): break
            case ("operation", _), ("ignore_failure", _), ("params", _):
                throw fault("A field \(name.asciiLowercased) has a value of the wrong type.")
            default: throw fault("A member of the list has an unknown field.")
            }
        }
        return step
    }

    private static func fault(_ reason: String) -> APIError { .badParameter(parameter, reason) }
}
