import Downloading
import HTTPServing
import HTTPTypes
import Imaging
import Memory
import Program
import Settings
import Telemetry
import ThumbnailAPI

/// `--demo`: a generated sample image, and an origin on 127.0.0.1 that serves it, so that the service works offline.
///
/// The origin is called `demo`, so that examples can name the sample without its port.
///
/// The page shows the sample at first, and accepts dropped images.
struct Demo {
    private static let originName = "demo"

    private let origin: HTTPServer

    /// Starts the origin, and allows the service to fetch from its address, but from no other private one.
    init(configuring settings: inout Settings, logger: Logger) throws {
        try ImageLibrary.start()
        let image = try SampleImage.jpeg(width: 1_600, height: 1_200)
        var listener = HTTPServerConfiguration()
        listener.bindAddress = "127.0.0.1"
        listener.port = 0
        listener.threads = 1
        listener.maximumConnections = 64
        origin = try HTTPServer(
            configuration: listener, responder: SampleOrigin(image: image.bytes), logger: logger)
        settings.publicListener.bindAddress = "127.0.0.1"
        settings.downloads.allowedEndpoints = [AllowedEndpoint(address: .v4(0x7f00_0001), port: Int(origin.port))]
        if settings.downloads.origins[Self.originName] == nil {
            let base = try SourceURL(parsing: "http://127.0.0.1:\(origin.port)/")
            settings.downloads.origins = Origins(
                settings.downloads.origins.all + [Origin(name: Self.originName, location: .web(base: base))])
        }
        settings.api.sampleSource = "http://127.0.0.1:\(origin.port)/sample.jpg"
        settings.api.takesUploads = true
        settings.api.revealsRules = true
    }

    func greet(port: UInt16, operatorPort: UInt16) {
        let source = "http%3A%2F%2F127.0.0.1%3A\(origin.port)%2Fsample.jpg"
        Program.print(
            """

            Alula is running. Open the page, and drop an image of your own on it:

              http://127.0.0.1:\(port)/

            A thumbnail of the sample:

              http://127.0.0.1:\(port)/thumbnail?url=\(source)&w=300

            For operators: http://127.0.0.1:\(operatorPort)/ ; stop with Ctrl-C.

            """)
    }
}

private struct SampleOrigin: RequestResponder {
    let image: SharedBytes

    func respond(to request: HTTPRequest) -> HTTPReply {
        guard request.target == "/sample.jpg" else { return .ready(HTTPResponse(status: .notFound)) }
        return .ready(
            HTTPResponse(
                status: .ok,
                headerFields: [.contentType: "image/jpeg", .cacheControl: "max-age=3600", .eTag: "\"sample-1\""],
                body: .shared(image)))
    }

    func response(to rejection: HTTPRejection) -> HTTPResponse { HTTPResponse(status: .badRequest) }
}
