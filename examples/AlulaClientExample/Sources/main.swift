// Sends an image to Alula, gets eight sizes and a BlurHash in one call, and writes an HTML picture element.
//
//   swift run AlulaClientExample PHOTO FOLDER [http://127.0.0.1:8080]
//
// Needs a service with `--uploads on`.
import AlulaClient
import Foundation

func exit(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}

let arguments = CommandLine.arguments
guard arguments.count >= 3, let baseURL = URL(string: arguments.count > 3 ? arguments[3] : "http://127.0.0.1:8080")
else { exit("Usage: AlulaClientExample PHOTO FOLDER [SERVICE]") }
let folder = URL(filePath: arguments[2])
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

let widths = [320, 640, 1_280, 1_920]
let formats: [(format: Rendition.Format, ending: String)] = [(.webp, "webp"), (.jpeg, "jpg")]
let orders = formats.flatMap { format, ending in
    widths.map { width in
        RenditionOrder.thumbnail(Rendition(width: width, format: format), named: "\(format)-\(width).\(ending)")
    }
}
let service = try ThumbnailService(baseURL)
// The file is read while it is sent.
let parts = try await service.thumbnails(
    ofFile: URL(filePath: arguments[1]), orders + [.info([.color, .blurHash], named: "facts")])

// Each file is written as soon as it has arrived.
var facts: ImageInfo?
for try await part in parts {
    switch part.content {
    case .thumbnail(let thumbnail): try thumbnail.data.write(to: folder.appending(path: part.name))
    case .info(let info): facts = info
    case .problem(let problem): exit("\(part.name): \(problem.detail)")
    case .stored: break  // Only orders with `to` are stored.
    }
}
guard let facts, let hash = facts.blurHash?.replacingOccurrences(of: "&", with: "&amp;") else {
    exit("The response lacks the facts.")
}

let srcsets = formats.map { format, ending in
    widths.map { "\(format)-\($0).\(ending) \($0)w" }.joined(separator: ", ")
}
let element = """
    <picture>
      <source type="image/webp" srcset="\(srcsets[0])">
      <img src="jpeg-\(widths[0]).jpg" srcset="\(srcsets[1])" width="\(facts.width)" height="\(facts.height)" \
    data-blurhash="\(hash)" style="background: \(facts.dominantColor ?? "none"); height: auto" alt="">
    </picture>

    """
try Data(element.utf8).write(to: folder.appending(path: "picture.html"))
print("\(orders.count) files and picture.html in \(arguments[2])")
