package import HTTPTypes
package import Imaging

extension ImagingError: ServiceError {
    package var status: HTTPResponse.Status {
        switch self {
        case .notAnImage, .formatNotAccepted: .unsupportedMediaType
        case .cannotDecode, .tooManyPixels, .tooMuchWork, .noSuchPage, .sideTooLong, .cropOutside:
            .unprocessableContent
        case .encodeFailed: .internalServerError
        case .ofAddition(_, let error): error.status
        }
    }

    package var code: String {
        switch self {
        case .notAnImage, .formatNotAccepted: "not_an_image"
        case .cannotDecode: "cannot_decode"
        case .tooManyPixels, .tooMuchWork, .sideTooLong: "too_many_pixels"
        case .noSuchPage: "no_such_page"
        case .cropOutside: "crop_outside"
        case .encodeFailed: "internal"
        case .ofAddition(_, let error): error.code
        }
    }

    package var publicMessage: String {
        switch self {
        case .notAnImage: "The source is not an image that the service knows."
        case .formatNotAccepted(let format): "Sources in the format \(format.rawValue) are not accepted here."
        case .cannotDecode: "The source is damaged or incomplete and cannot be decoded."
        case .tooManyPixels(let size, let frames):
            frames > 1
                ? "\(frames) frames of \(size) pixels are more than the service takes or makes."
                : "\(size) pixels are more than the service takes or makes."
        case .tooMuchWork(let size):
            "The steps of the request take longer on \(size) pixels than the service works on one image."
        case .sideTooLong(let size, let format):
            "The format \(format.rawValue) cannot hold an image of \(size) pixels."
        case .noSuchPage(let page, let count): "The source has no page \(page); its pages are 0 to \(count - 1)."
        case .cropOutside(let size): "The part of crop lies outside of the image, which has \(size) pixels."
        case .encodeFailed: "Something went wrong inside the service."
        case .ofAddition(_, let error): error.publicMessage
        }
    }

    package var logDetail: String? {
        switch self {
        case .cannotDecode(let detail), .encodeFailed(let detail): detail
        case .ofAddition(_, let error): error.logDetail
        default: nil
        }
    }

    package var category: ErrorCategory {
        switch self {
        case .tooMuchWork, .sideTooLong, .noSuchPage, .cropOutside: .request
        case .encodeFailed: .internal
        case .ofAddition(_, let error): error.category
        default: .image
        }
    }

    package var parameter: String? {
        switch self {
        case .noSuchPage: "page"
        case .cropOutside: "crop"
        default: nil
        }
    }
}
