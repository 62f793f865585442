// Sends an image to Alula, gets eight sizes and a BlurHash in one call, and writes an HTML picture element.
//
//   swiftc upload.swift && ./upload PHOTO FOLDER [http://127.0.0.1:8080]
//
// Needs Foundation only, and a service with `--uploads on`.
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Why nothing was written.
struct Failure: Error, CustomStringConvertible {
    let description: String
}

/// What the example uses of an image's facts.
struct Facts: Decodable {
    let width: Int
    let height: Int
    let dominantColor: String?
    let blurHash: String
}

let widths = [320, 640, 1_280, 1_920]
let formats = [(name: "webp", ending: "webp"), (name: "jpeg", ending: "jpg")]

/// A form with a list of renditions and an image, and its media type.
func form(_ photo: Data) throws -> (body: Data, mediaType: String) {
    var renditions = widths.flatMap { width in
        formats.map { ["name": "\($0.name)-\(width)", "query": "w=\(width)&format=\($0.name)"] }
    }
    renditions.append(["name": "facts", "include": "color,blurhash"])
    let boundary = "alula-example-\(UUID().uuidString)"
    var body = Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n".utf8)
    body += try JSONEncoder().encode(["renditions": renditions])
    body += Data("\r\n--\(boundary)\r\nContent-Disposition: form-data; name=\"file\"; filename=\"photo\"\r\n\r\n".utf8)
    body += photo + Data("\r\n--\(boundary)--\r\n".utf8)
    return (body, "multipart/form-data; boundary=\(boundary)")
}

/// The members of a tar archive, a row of blocks of 512 bytes: a header with name and length, then the content.
func members(of archive: Data) throws -> [String: Data] {
    var members: [String: Data] = [:]
    var place = archive.startIndex
    while place + 512 <= archive.endIndex, archive[place] != 0 {
        let name = String(decoding: archive[place..<place + 100].prefix { $0 != 0 }, as: UTF8.self)
        let digits = String(decoding: archive[place + 124..<place + 135], as: UTF8.self)
        guard let count = Int(digits, radix: 8), place + 512 + count <= archive.endIndex else {
            throw Failure(description: "The answer is no tar archive.")
        }
        members[name] = archive[place + 512..<place + 512 + count]
        place += 512 + (count + 511) / 512 * 512
    }
    return members
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { throw Failure(description: "Usage: upload PHOTO FOLDER [SERVICE]") }
let folder = URL(filePath: arguments[2])
let service = arguments.count > 3 ? arguments[3] : "http://127.0.0.1:8080"

guard let url = URL(string: service + "/thumbnails") else { throw Failure(description: "\(service) is no URL.") }
let (body, mediaType) = try form(Data(contentsOf: URL(filePath: arguments[1])))
var request = URLRequest(url: url)
request.httpMethod = "POST"
request.setValue(mediaType, forHTTPHeaderField: "Content-Type")
request.setValue("application/x-tar", forHTTPHeaderField: "Accept")
request.httpBody = body
let (archive, response) = try await URLSession.shared.data(for: request)
guard (response as? HTTPURLResponse)?.statusCode == 200 else {
    throw Failure(description: String(decoding: archive, as: UTF8.self))
}

let files = try members(of: archive)
if let problem = files.first(where: { $0.key.hasSuffix(".problem.json") }) {
    throw Failure(description: "\(problem.key): \(String(decoding: problem.value, as: UTF8.self))")
}
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
for (name, content) in files { try content.write(to: folder.appending(path: name)) }

let facts = try JSONDecoder().decode(Facts.self, from: files["facts.json"] ?? Data())
let hash = facts.blurHash.replacingOccurrences(of: "&", with: "&amp;")
let srcsets = formats.map { format in
    widths.map { "\(format.name)-\($0).\(format.ending) \($0)w" }.joined(separator: ", ")
}
let element = """
    <picture>
      <source type="image/webp" srcset="\(srcsets[0])">
      <img src="jpeg-\(widths[0]).jpg" srcset="\(srcsets[1])" width="\(facts.width)" height="\(facts.height)" \
    data-blurhash="\(hash)" style="background: \(facts.dominantColor ?? "none"); height: auto" alt="">
    </picture>

    """
try Data(element.utf8).write(to: folder.appending(path: "picture.html"))
print("\(files.count - 1) files, facts.json and picture.html in \(arguments[2])")
