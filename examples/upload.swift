// Sends an image to Alula, gets several sizes in one call, and writes them to a folder.
//
//   swiftc upload.swift && ./upload PHOTO FOLDER [http://127.0.0.1:8080]
//
// Needs Foundation only, and a service with `--uploads on`.
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct Usage: Error {}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { throw Usage() }
let photo = try Data(contentsOf: URL(filePath: arguments[1]))
let folder = URL(filePath: arguments[2])
let service = arguments.count > 3 ? arguments[3] : "http://127.0.0.1:8080"

let widths = [320, 640, 1_280, 1_920]
let list = ["renditions": widths.map { ["name": "w\($0)", "query": "w=\($0)&format=webp"] }]
let boundary = "alula-example-\(UUID().uuidString)"
var body = Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n".utf8)
body += try JSONEncoder().encode(list)
body += Data("\r\n--\(boundary)\r\nContent-Disposition: form-data; name=\"file\"; filename=\"photo\"\r\n\r\n".utf8)
body += photo + Data("\r\n--\(boundary)--\r\n".utf8)

var request = URLRequest(url: URL(string: service + "/thumbnails")!)
request.httpMethod = "POST"
request.setValue("multipart/form-data; boundary=\(boundary)", forHTTPHeaderField: "Content-Type")
request.setValue("application/x-tar", forHTTPHeaderField: "Accept")
request.httpBody = body
let (archive, response) = try await URLSession.shared.data(for: request)
guard (response as? HTTPURLResponse)?.statusCode == 200 else {
    fatalError(String(decoding: archive, as: UTF8.self))
}

// A tar archive is a row of blocks of 512 bytes: a header with name and length, then the content.
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
var place = archive.startIndex
while place + 512 <= archive.endIndex, archive[place] != 0 {
    let name = String(decoding: archive[place..<place + 100].prefix { $0 != 0 }, as: UTF8.self)
    let digits = String(decoding: archive[place + 124..<place + 135], as: UTF8.self)
    guard let count = Int(digits, radix: 8) else { fatalError("not a tar archive") }
    try archive[place + 512..<place + 512 + count].write(to: folder.appending(path: name))
    print(name, count)
    place += 512 + (count + 511) / 512 * 512
}
