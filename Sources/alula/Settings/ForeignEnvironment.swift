/// Another service whose environment variables can stand in for settings.
enum ForeignEnvironment: String, CaseIterable, Sendable {
    case imgproxy, imagor

    /// The result of reading a service's variables.
    struct Reading: Equatable {
        /// The variables that are set, in order.
        var variables: [ForeignVariable] = []
        /// All that is wrong with them, one line each.
        var problems: [String] = []
    }

    /// Stores what the service's variables mean here.
    func apply(_ environment: [String: String], to settings: inout Settings) -> Reading {
        switch self {
        case .imgproxy: ImgproxyEnvironment.apply(environment, to: &settings)
        case .imagor: ImagorEnvironment.apply(environment, to: &settings)
        }
    }
}
