import Imaging
package import Settings
import Telemetry

/// Creates the face detector from the cascades when the service starts.
enum Faces {
    struct Unusable: Error, CustomStringConvertible {
        let reason: String

        var description: String { "faceDetection is on, but \(reason)" }
    }

    /// Returns nil if detection is off; throws if it is on and a cascade is unusable.
    static func detector(
        _ settings: Settings, at paths: [String] = FaceDetector.paths, logger: Logger
    ) throws -> FaceDetector? {
        guard settings.findsFaces != false else { return nil }
        do {
            let files = try paths.map { path in
                do {
                    return Array(try SettingsFile.read(path).utf8)
                } catch let error as SettingsFileError {
                    throw Unusable(reason: "\(path): \(error.reason)")
                }
            }
            if let detector = FaceDetector(files) { return detector }
            if settings.findsFaces == true { throw Unusable(reason: "the cascades of opencv-data are invalid") }
            logger.warning("face detection disabled: invalid cascades", ["path": .string(paths[0])])
        } catch let error as Unusable {
            if settings.findsFaces == true { throw error }
        }
        return nil
    }
}

extension Settings {
    /// Enables detection for an explanation, as if the service had started with valid cascades.
    package mutating func assumeFaceDetection() {
        let isInstalled = FaceDetector.paths.allSatisfy { (try? SettingsFile.read($0)) != nil }
        setFaceDetection(findsFaces ?? isInstalled)
    }
}
