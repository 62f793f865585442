import HTTPTypes
package import Recipes
package import ThumbnailTypes

extension ImagingError: ServiceError {
    package var response: ErrorResponse {
        func tooManyPixels(_ message: String, category: ErrorCategory) -> ErrorResponse {
            ErrorResponse(.unprocessableContent, code: .tooManyPixels, category: category, message: message)
        }
        return switch self {
        case .notAnImage:
            ErrorResponse(
                .unsupportedMediaType, code: .notAnImage, category: .image,
                message: "The source is not an image in a supported format.")
        case .formatNotAccepted(let format):
            ErrorResponse(
                .unsupportedMediaType, code: .notAnImage, category: .image,
                message: "Sources in the format \(format.rawValue) are not accepted.")
        case .cannotDecode(let detail):
            ErrorResponse(
                .unprocessableContent, code: .cannotDecode, category: .image,
                message: "The source is damaged or incomplete and cannot be decoded.", detail: detail)
        case .unsupported(let kind):
            ErrorResponse(
                .unprocessableContent, code: .cannotDecode, category: .image,
                message: "The source is \(kind), which is not supported.")
        case .tooManyPixels(let size, let frames):
            tooManyPixels(
                (frames > 1 ? "\(frames) frames of " : "")
                    + "\(size) pixels exceed maxSourcePixels or maxOutputPixels.", category: .image)
        case .tooMuchWork(let size):
            tooManyPixels("The requested operations would take too long on \(size) pixels.", category: .request)
        case .sideTooLong(let size, let format):
            tooManyPixels(
                "Images of \(size) pixels are too large for the format \(format.rawValue).", category: .request)
        case .noSuchPage(let page, let count):
            ErrorResponse(
                .unprocessableContent, code: .noSuchPage, category: .request,
                message: "The source has no page \(page); its pages are 0 to \(count - 1).", parameter: "page")
        case .frameTooLate(let page):
            ErrorResponse(
                .unprocessableContent, code: .tooManyPixels, category: .request,
                message: "Decoding the frames up to \(page) would exceed decodeTimeout.", parameter: "page")
        case .cropOutside(let size):
            ErrorResponse(
                .unprocessableContent, code: .cropOutside, category: .request,
                message: "crop is outside the image, which has \(size) pixels.", parameter: "crop")
        case .outOfMemory(let detail):
            .overloaded("The service is out of memory; try again shortly.", detail: detail)
        case .encodeFailed(let detail): .internal(detail)
        case .ofAddition(_, let error):
            ErrorResponse(
                error.status, code: error.response.code, category: error.category, message: error.publicMessage,
                detail: error.logDetail)
        }
    }
}
