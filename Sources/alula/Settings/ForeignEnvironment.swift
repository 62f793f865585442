/// Another service whose environment variables can stand in for settings.
enum ForeignEnvironment: String, CaseIterable, Sendable {
    case imgproxy, imagor

    /// Stores what the service's variables mean here.
    ///
    /// - Returns: The variables that mean nothing here, and all that is wrong with the others, one line each.
    func apply(_ environment: [String: String], to settings: inout Settings) -> (ignored: [String], problems: [String])
    {
        switch self {
        case .imgproxy: ImgproxyEnvironment.apply(environment, to: &settings)
        case .imagor: ImagorEnvironment.apply(environment, to: &settings)
        }
    }
}
