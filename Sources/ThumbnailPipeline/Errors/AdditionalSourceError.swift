import Downloading
package import ThumbnailTypes

package struct AdditionalSourceError: ServiceError {
    package let role: AdditionalSource.Role
    package let underlying: any ServiceError

    package var response: ErrorResponse {
        var response = underlying.response
        response.parameter = role.rawValue
        return response
    }

    /// Runs `body` and adds the role to its errors; errors of the image itself (a nil role) are rethrown unchanged.
    static func attributing<Value>(to role: AdditionalSource.Role?, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw attributed(error, to: role) }
    }

    static func attributing<Value>(
        to role: AdditionalSource.Role?, _ body: () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch { throw attributed(error, to: role) }
    }

    private static func attributed(_ error: any Error, to role: AdditionalSource.Role?) -> any Error {
        guard let role, let error = error as? any ServiceError else { return error }
        switch error.category {
        case .request, .policy, .origin, .image, .timeout:
            return AdditionalSourceError(role: role, underlying: error)
        case .overload, .canceled, .internal: return error
        }
    }
}

extension ServiceError {
    /// Whether the source does not exist or its origin did not respond in time.
    package var isSourceMissing: Bool {
        switch (self as? AdditionalSourceError)?.underlying ?? self {
        case DownloadError.notFound, DownloadError.timedOut: true
        default: false
        }
    }
}
