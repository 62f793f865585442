import CEmbeddedFiles

/// A file that is part of the program: the interface description, the pages with their styles and scripts, and chapters
/// of the documentation.
///
/// A page is at `/`, and its files are under `/page/`. The table in `CEmbeddedFiles.c` lists them.
struct EmbeddedFile: Hashable, Sendable, CustomStringConvertible {
    let path: String
    private let index: Int
    private let listeners: Int32

    static let all: [EmbeddedFile] = {
        var files: [EmbeddedFile] = []
        while let file = EmbeddedFile(at: files.count) { files.append(file) }
        return files
    }()
    static let ofClients = all.filter { $0.listeners & Int32(CEmbeddedFiles_CLIENTS) != 0 }
    static let ofOperators = all.filter { $0.listeners & Int32(CEmbeddedFiles_OPERATORS) != 0 }

    private init?(at index: Int) {
        let row = unsafe CEmbeddedFiles_file(index)
        guard let path = unsafe row.path else { return nil }
        unsafe self.path = String(cString: path)
        self.index = index
        unsafe listeners = row.listeners
    }

    var bytes: [UInt8] {
        let row = unsafe CEmbeddedFiles_file(index)
        return unsafe Array(UnsafeBufferPointer(start: row.bytes, count: row.size))
    }

    var description: String { path }

    var mediaType: String {
        let types = [
            (".css", "text/css; charset=utf-8"), (".js", "text/javascript; charset=utf-8"),
            (".svg", "image/svg+xml"), (".yaml", "application/yaml"), (".md", "text/plain; charset=utf-8"),
        ]
        return types.first { path.hasSuffix($0.0) }?.1 ?? "text/html; charset=utf-8"
    }

    var isPage: Bool { path == "/" }

    var label: String {
        switch path {
        case "/openapi.yaml": "openapi"
        case "/": "page"
        default: "page_file"
        }
    }

    /// Returns the file in this list at `path`; nil if there is none.
    ///
    /// Most paths belong to other routes, and differ in their first bytes.
    static func file(at path: Substring, among files: [EmbeddedFile]) -> EmbeddedFile? {
        switch path.utf8.dropFirst().first {
        case nil, UInt8(ascii: "o"), UInt8(ascii: "p"): files.first { $0.path.utf8.elementsEqual(path.utf8) }
        default: nil
        }
    }
}
