import Glibc
import Memory
import Recipes
import TestSupport

/// An origin for tests that run the service as a process; each image and fault has its own path.
enum ScriptedOrigin {
    /// Listens on a free port of 127.0.0.1, prints it as one line, and runs until it is killed.
    ///
    /// `GET /paths` lists all other paths, one per line.
    static func run() -> Never {
        let origin = start()
        let answers = images() + faults(origin)
        for (path, answer) in answers { origin.serve(path, answer) }
        let paths = answers.map(\.path).joined(separator: "\n") + "\n"
        origin.serve("/paths", FakeResponse(fields: [("Content-Type", "text/plain")], body: Array(paths.utf8)))
        print(origin.port)
        fflush(nil)
        while true { withExtendedLifetime(origin) { _ = pause() } }
    }

    private static func start() -> FakeOrigin {
        do {
            return try FakeOrigin()
        } catch {
            fatalError("fake-origin cannot start: \(error.detail)")
        }
    }

    /// `/images/NAME` for every fixture, including damaged ones, `/photo.jpg` and `/photo.png`.
    private static func images() -> [(path: String, answer: FakeResponse)] {
        ImageFixture.allCases.map { fixture in
            ("/images/\(fixture)", .image(fixture.array, type: mediaType(of: fixture)))
        } + [
            ("/photo.jpg", .image(ImageFixture.photo(width: 1_200, height: 900).array)),
            ("/photo.png", .image(ImageFixture.photo(width: 301, height: 199, format: .png).array, type: "image/png")),
        ]
    }

    private static func mediaType(of fixture: ImageFixture) -> String {
        let format = ImageFormat.allCases.first { fixture.rawValue.hasPrefix($0.rawValue) }
        return format?.mediaType ?? "application/octet-stream"
    }
}
