import Book
import CEmbeddedFiles

/// A file in the program: the interface description, a page, a style, a script, or part of the documentation.
///
/// A page is at `/`, its files are below `/page/`, and the documentation is below `/book/`. The table in
/// `CEmbeddedFiles.c` lists all files except the documentation.
struct EmbeddedFile: Hashable, Sendable, CustomStringConvertible {
    private enum Content: Hashable {
        case table(Int)
        case book(Int)
    }

    let path: String
    private let content: Content
    private let listeners: Int32

    static let all: [EmbeddedFile] = {
        var files: [EmbeddedFile] = []
        while let file = EmbeddedFile(at: files.count) { files.append(file) }
        return files + BookFile.all.indices.map { EmbeddedFile(chapter: $0) }
    }()
    static let ofPublicListener = all.filter { $0.listeners & Int32(CEmbeddedFiles_PUBLIC) != 0 }
    static let ofAdminListener = all.filter { $0.listeners & Int32(CEmbeddedFiles_ADMIN) != 0 }

    static let book = "/book/"

    private init?(at index: Int) {
        let row = unsafe CEmbeddedFiles_file(index)
        guard let path = unsafe row.path else { return nil }
        unsafe self.path = String(cString: path)
        content = .table(index)
        unsafe listeners = row.listeners
    }

    private init(chapter index: Int) {
        let name = BookFile.all[index].path
        path = Self.book + (name == "index.html" ? "" : name)
        content = .book(index)
        listeners = Int32(CEmbeddedFiles_PUBLIC | CEmbeddedFiles_ADMIN)
    }

    var chapter: BookFile? { if case .book(let index) = content { BookFile.all[index] } else { nil } }

    var bytes: [UInt8] {
        switch content {
        case .table(let index):
            let row = unsafe CEmbeddedFiles_file(index)
            return unsafe Array(UnsafeBufferPointer(start: row.bytes, count: row.size))
        case .book(let index): return BookFile.all[index].bytes
        }
    }

    var description: String { path }

    var mediaType: String {
        let types = [
            (".css", "text/css; charset=utf-8"), (".js", "text/javascript; charset=utf-8"),
            (".svg", "image/svg+xml"), (".yaml", "application/yaml"), (".json", "application/json"),
        ]
        return types.first { path.hasSuffix($0.0) }?.1 ?? "text/html; charset=utf-8"
    }

    /// Whether browsers show the file as a page, which loads other files.
    var isPage: Bool { mediaType.hasPrefix("text/html") }

    var label: String {
        switch path {
        case "/openapi.yaml": "openapi"
        case "/": "page"
        default: "page_file"
        }
    }

    /// Finds a file; fast for other paths, which differ in their first bytes.
    static func file(at path: Substring, among files: [EmbeddedFile]) -> EmbeddedFile? {
        switch path.utf8.dropFirst().first {
        case nil, UInt8(ascii: "b"), UInt8(ascii: "o"), UInt8(ascii: "p"):
            // Redirect `/book` and the name of its first page to the root, which relative links need.
            let path = path == "/book" || path == "/book/index.html" ? Self.book[...] : path
            return files.first { $0.path.utf8.elementsEqual(path.utf8) }
        default: return nil
        }
    }
}
