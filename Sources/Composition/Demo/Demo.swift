import Downloading
import HTTPServing
import HTTPTypes
import Imaging
import Memory
import Program
import Recipes
import Settings
import Telemetry
import Text
import ThumbnailAPI
import ThumbnailPipeline

/// The demo: generated images, and the origin `demo:` on 127.0.0.1 that serves them, so that the service works offline.
struct Demo {
    private static let originName = "demo"

    private let origin: HTTPServer

    init(logger: Logger) throws {
        try ImageLibrary.start()
        var listener = HTTPServerConfiguration()
        listener.bindAddress = "127.0.0.1"
        listener.port = 0
        listener.threads = 1
        listener.maximumConnections = 64
        origin = try HTTPServer(listener, responder: try SampleOrigin(), logger: logger)
    }

    /// Allows the service to fetch from the origin's address, but from no other private one.
    func configure(_ settings: inout Settings) throws {
        try settings.override("bind", with: "127.0.0.1")
        settings.downloads.allowedEndpoints = [AllowedEndpoint(address: .v4(0x7f00_0001), port: Int(origin.port))]
        if settings.downloads.origins[Self.originName] == nil {
            let base = try SourceURL(parsing: "http://127.0.0.1:\(origin.port)/")
            settings.downloads.origins = Origins(
                settings.downloads.origins.all + [Origin(name: Self.originName, location: .web(base: base))])
        }
        settings.api.sampleSource = "\(Self.originName):sample.jpg"
        if settings.pipeline.rules.automaticFormats == RenderingRules().automaticFormats {
            try settings.override("autoFormats", with: "avif,webp")
        }
        try settings.override("uploads", with: "on")
        settings.api.revealsRules = true
    }

    func greet(port: UInt16, adminPort: UInt16) {
        Program.print(
            """

            Alula is running. Open the page, and drop an image of your own on it:

              http://127.0.0.1:\(port)/

            A thumbnail of the sample:

              http://127.0.0.1:\(port)/thumbnail?url=\(Self.originName):sample.jpg&w=300

            For operators: http://127.0.0.1:\(adminPort)/ ; stop with Ctrl-C.

            """)
    }
}

private struct SampleOrigin: RequestResponder {
    private let files: [ExactText: EncodedImage]

    init() throws {
        files = [
            ExactText("/sample.jpg"): try SampleImage(width: 1_600, height: 1_200).jpeg(),
            ExactText("/framed.png"): try SampleImage(width: 200, height: 150).framed(border: 30),
            ExactText("/mark.png"): try SampleImage.mark(side: 120),
        ]
    }

    func respond(to request: HTTPRequest) -> PendingResponse<HTTPResponse> {
        guard let file = files[ExactText(request.target)] else { return .ready(HTTPResponse(status: .notFound)) }
        return .ready(
            HTTPResponse(
                status: .ok,
                headerFields: [
                    .contentType: file.format.mediaType, .cacheControl: "max-age=3600", .eTag: "\"sample-2\"",
                ],
                body: .shared(file.bytes)))
    }

    func response(to rejection: HTTPRejection) -> HTTPResponse { HTTPResponse(status: .badRequest) }
}
