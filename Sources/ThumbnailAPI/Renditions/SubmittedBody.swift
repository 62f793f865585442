import HTTPTypes
import Imaging
import Memory
import Text

/// What the body of a request to make images holds, by its `Content-Type`.
enum SubmittedBody: Equatable {
    /// The image itself.
    case image
    /// A list of renditions.
    case list
    /// A form with a file.
    case form(boundary: String)

    /// Bytes that a form may have besides its file.
    static let formAllowance = 64 << 10
    /// Most bytes of a list.
    static let longestList = 1 << 20

    /// What a request to make one image holds.
    ///
    /// - Throws: ``ImagingError/notAnImage`` for anything else.
    init(ofOne fields: HTTPFields) throws(ImagingError) {
        guard let text = fields[.contentType] else {
            self = .image
            return
        }
        if let boundary = MultipartForm.boundary(in: text) {
            self = .form(boundary: boundary)
            return
        }
        guard let type = MediaType(text), type.type == "image" || type.description == "application/octet-stream" else {
            throw .notAnImage
        }
        self = .image
    }

    /// What a request to make several images holds.
    ///
    /// - Throws: ``APIError/unsupportedMediaType`` for anything else.
    init(ofSeveral fields: HTTPFields) throws(APIError) {
        if JSONBody.isDeclared(in: fields) {
            self = .list
        } else if let boundary = fields[.contentType].flatMap({ MultipartForm.boundary(in: $0) }) {
            self = .form(boundary: boundary)
        } else {
            throw .unsupportedMediaType
        }
    }

    /// Whether the client sends an image.
    var bringsImage: Bool { self != .list }

    /// Refuses a body of this length.
    func check(length: Int, maximumImage: Int) throws(APIError) {
        switch self {
        case .list: if length > Self.longestList { throw .bodyTooLarge }
        case .image: if length > maximumImage { throw .sourceTooLarge }
        case .form: if length > maximumImage + Self.formAllowance { throw .sourceTooLarge }
        }
    }

    /// The image in a body that holds nothing else.
    func image(in body: [UInt8], atMost maximum: Int) throws(APIError) -> SharedBytes {
        switch self {
        case .list: throw .unsupportedMediaType
        case .image: return try Self.checked(SharedBytes(body), maximum)
        case .form(let boundary):
            let parts = try MultipartForm(body, boundary: boundary).parts
            guard parts.count == 1, parts[0].isFile else {
                throw .badBody("", "The form must have one field, which is a file.")
            }
            return try Self.checked(SharedBytes(Array(body[parts[0].content])), maximum)
        }
    }

    /// The list and the image in a form.
    static func listAndImage(
        in body: [UInt8], boundary: String, atMost maximum: Int
    ) throws(APIError) -> (list: [UInt8], image: SharedBytes) {
        let parts = try MultipartForm(body, boundary: boundary).parts
        guard parts.count == 2, let list = parts.first(where: { $0.name == "request" }),
            let file = parts.first(where: { $0.name == "file" })
        else { throw .badBody("", "The form must have the fields request and file, each once.") }
        guard list.content.count <= longestList else { throw .bodyTooLarge }
        return (Array(body[list.content]), try checked(SharedBytes(Array(body[file.content])), maximum))
    }

    private static func checked(_ image: SharedBytes, _ maximum: Int) throws(APIError) -> SharedBytes {
        guard image.count > 0 else { throw .badBody("", "The image is empty.") }
        guard image.count <= maximum else { throw .sourceTooLarge }
        return image
    }
}
