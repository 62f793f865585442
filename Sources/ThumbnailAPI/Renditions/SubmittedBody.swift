import Dialects
import HTTPTypes
import Memory
import Text

/// The kind of body of a rendering request, from its `Content-Type`.
enum SubmittedBody: Equatable {
    case image
    case list
    /// A form with the file as its only field, or in `field`.
    case form(boundary: String, field: ExactText? = nil)

    static let formAllowance = 64 << 10
    static let maximumListBytes = 1 << 20

    /// Types that do not identify the body, so its first bytes do; the second one is curl's default.
    private static let ambiguousTypes: Set<ExactText> = [
        "application/octet-stream", "application/x-www-form-urlencoded",
    ]

    /// - Parameter field: The name of the form field with the image; any other body is then an image of any type.
    /// - Throws: ``APIError/notAnImageType(_:)``, or ``APIError/badBody(_:_:)`` for a form without boundary.
    init(ofOne fields: HTTPFields, field: ExactText? = nil) throws(APIError) {
        guard let text = fields[.contentType] else {
            self = .image
            return
        }
        if let boundary = MultipartForm.boundary(in: text) {
            self = .form(boundary: boundary, field: field)
            return
        }
        if field != nil {
            guard MediaType(text)?.type != "multipart" else { throw .badBody("", "The form has no boundary.") }
            self = .image
            return
        }
        guard let type = MediaType(text),
            type.type == "image" || Self.ambiguousTypes.contains(ExactText(type.description))
        else {
            throw .notAnImageType(text)
        }
        self = .image
    }

    init(ofSeveral fields: HTTPFields) throws(APIError) {
        if JSONBody.isDeclared(in: fields) {
            self = .list
        } else if let boundary = fields[.contentType].flatMap({ MultipartForm.boundary(in: $0) }) {
            self = .form(boundary: boundary)
        } else {
            throw .unsupportedMediaType
        }
    }

    var bringsImage: Bool { self != .list }

    func check(length: Int, maximumImage: Int, maximum: Int) throws(APIError) {
        switch self {
        case .list: if length > min(Self.maximumListBytes, maximum) { throw .bodyTooLarge }
        case .image: if length > min(maximumImage, maximum) { throw .sourceTooLarge }
        case .form: if length > min(maximumImage + Self.formAllowance, maximum) { throw .sourceTooLarge }
        }
    }

    /// Returns the image in a body that contains nothing else.
    func image(in body: SharedBytes, atMost maximum: Int) throws(APIError) -> SharedBytes {
        switch self {
        case .list: throw .unsupportedMediaType
        case .image: return try Self.accept(body, atMost: maximum)
        case .form(let boundary, let field?):
            let files = try MultipartForm(body, boundary: boundary).parts.filter { $0.name == field }
            guard files.count == 1 else {
                throw .badBody("", "The form must have one field \(field), which is a file.")
            }
            return try Self.accept(SharedBytes(files[0].content, of: body), atMost: maximum)
        case .form(let boundary, nil):
            let parts = try MultipartForm(body, boundary: boundary).parts
            guard parts.count == 1, parts[0].isFile else {
                throw .badBody("", "The form must have one field, which is a file.")
            }
            return try Self.accept(SharedBytes(parts[0].content, of: body), atMost: maximum)
        }
    }

    static func listAndImage(
        in body: SharedBytes, boundary: String, atMost maximum: Int
    ) throws(APIError) -> (list: [UInt8], image: SharedBytes) {
        let parts = try MultipartForm(body, boundary: boundary).parts
        guard parts.count == 2, let list = parts.first(where: { $0.name == "request" }),
            let file = parts.first(where: { $0.name == "file" })
        else { throw .badBody("", "The form must have exactly two fields: request and file.") }
        guard list.content.count <= maximumListBytes else { throw .bodyTooLarge }
        return (
            SharedBytes(list.content, of: body).array, try accept(SharedBytes(file.content, of: body), atMost: maximum)
        )
    }

    private static func accept(_ image: SharedBytes, atMost maximum: Int) throws(APIError) -> SharedBytes {
        guard image.count > 0 else { throw .badBody("", "The image is empty.") }
        guard image.count <= maximum else { throw .sourceTooLarge }
        return image
    }
}
