// Sends an image to Alula, gets eight sizes and a BlurHash in one call, and writes an HTML picture element.
//
//   swift run AlulaClientExample PHOTO FOLDER [http://127.0.0.1:8080]
//
// Needs a service with `--uploads on`.
import AlulaClient
import Foundation

let widths = [320, 640, 1_280, 1_920]
let formats: [(format: Rendition.Format, ending: String)] = [(.webp, "webp"), (.jpeg, "jpg")]

/// Ends the program with a message.
func exit(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}

/// Writes the sizes of a photo into a folder; returns the facts about it.
func writeSizes(of photo: URL, into folder: URL, from service: ThumbnailService) async throws -> ImageInfo? {
    let sizes = formats.flatMap { format, ending in
        widths.map { width in
            RenditionOrder.thumbnail(Rendition(width: width, format: format), named: "\(format)-\(width).\(ending)")
        }
    }
    let facts = RenditionOrder.info([.color, .blurHash], named: "facts")
    var info: ImageInfo?
    // The photo is read while it is sent, and each size is written as soon as it has arrived.
    for try await part in try await service.thumbnails(ofFile: photo, sizes + [facts]) {
        switch part.content {
        case .thumbnail(let thumbnail): try thumbnail.data.write(to: folder.appending(path: part.name))
        case .info(let facts): info = facts
        case .problem(let problem): exit("\(part.name): \(problem.detail)")
        case .stored: break  // Only orders with `to` are stored.
        }
    }
    return info
}

/// Returns a picture element for the sizes.
func picture(_ info: ImageInfo) -> String {
    let srcsets = formats.map { format, ending in
        widths.map { "\(format)-\($0).\(ending) \($0)w" }.joined(separator: ", ")
    }
    let hash = (info.blurHash ?? "").replacingOccurrences(of: "&", with: "&amp;")
    return """
        <picture>
          <source type="image/webp" srcset="\(srcsets[0])">
          <img src="jpeg-\(widths[0]).jpg" srcset="\(srcsets[1])" width="\(info.width)" height="\(info.height)" \
        data-blurhash="\(hash)" style="background: \(info.dominantColor ?? "none"); height: auto" alt="">
        </picture>

        """
}

let arguments = CommandLine.arguments
guard arguments.count >= 3, let baseURL = URL(string: arguments.count > 3 ? arguments[3] : "http://127.0.0.1:8080")
else { exit("Usage: AlulaClientExample PHOTO FOLDER [SERVICE]") }
let (photo, folder) = (URL(filePath: arguments[1]), URL(filePath: arguments[2]))
do {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let service = try ThumbnailService(baseURL)
    guard let info = try await writeSizes(of: photo, into: folder, from: service) else {
        exit("The response lacks the facts.")
    }
    try Data(picture(info).utf8).write(to: folder.appending(path: "picture.html"))
    print("\(formats.count * widths.count) files and picture.html in \(folder.path)")
} catch {
    // Errors of the client have descriptions for people.
    exit(error.localizedDescription)
}
