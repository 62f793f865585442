/// Another service whose environment variables can stand in for settings.
package enum ForeignEnvironment: String, CaseIterable, Sendable {
    case imgproxy, imagor, imaginary

    /// The result of reading a service's variables.
    package struct Reading: Equatable {
        /// The variables that are set, in order.
        package var variables: [ForeignVariable] = []
        /// All that is wrong with them, one line each.
        package var problems: [String] = []
    }

    /// Stores what the service's variables mean here.
    func apply(_ environment: [String: String], to settings: inout Settings) -> Reading {
        switch self {
        case .imgproxy: ImgproxyEnvironment.apply(environment, to: &settings)
        case .imagor: ImagorEnvironment.apply(environment, to: &settings)
        case .imaginary: ImaginaryEnvironment.apply(environment, to: &settings)
        }
    }
}
