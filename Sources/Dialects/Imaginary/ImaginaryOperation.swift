import Recipes
import Text
import ThumbnailTypes

struct ImaginaryOperation: Hashable, Sendable {
    enum Name: String, CaseIterable {
        case crop, smartcrop, resize, enlarge, extract, rotate, autorotate, flip, flop, thumbnail, zoom, convert
        case watermark, watermarkimage, blur, fit

        init?(inPipeline text: String) {
            switch text {
            case "watermarkImage": self = .watermarkimage
            case "watermarkimage": return nil
            default: self.init(rawValue: text)
            }
        }
    }

    let name: Name
    var options: ImaginaryOptions
    let format: ImageFormat?
    var mayFail = false

    init(_ name: Name, options: ImaginaryOptions, format: ImageFormat?) throws(APIError) {
        self.name = name
        self.options = options
        // This operation ignores all parameters.
        self.format = name == .autorotate ? nil : format
        try check()
    }

    private func check() throws(APIError) {
        switch name {
        case .crop, .smartcrop, .resize, .thumbnail:
            try require("width", isPresent: options.width != 0 || options.height != 0)
        case .enlarge, .fit:
            try require("width", isPresent: options.width != 0)
            try require("height", isPresent: options.height != 0)
        case .extract:
            try require("areawidth", isPresent: options.areaWidth != 0)
            try require("areaheight", isPresent: options.areaHeight != 0)
        case .rotate: try require("rotate", isPresent: options.rotate != 0)
        case .zoom:
            try require("factor", isPresent: options.factor != 0)
            if cropsZoomed { try require("areawidth", isPresent: options.areaWidth != 0 || options.areaHeight != 0) }
        case .convert: try require("type", isPresent: format != nil)
        case .blur: try require("sigma", isPresent: options.sigma != 0 || options.minimumAmplitude != 0)
        case .watermark:
            try require("text", isPresent: options.text != "")
            guard options.text.utf8.count <= ImaginaryText.maximumLength else {
                throw .badParameter("text", "Must have at most \(ImaginaryText.maximumLength) bytes.")
            }
        case .watermarkimage: try require("image", isPresent: options.image != "")
        case .autorotate, .flip, .flop: break
        }
    }

    private func require(_ parameter: String, isPresent: Bool) throws(APIError) {
        guard isPresent else { throw .missingParameter(parameter) }
    }

    var mark: AdditionalSource? {
        switch name {
        case .watermarkimage: AdditionalSource(.watermark, source: options.image)
        case .watermark: AdditionalSource(.watermark, file: ExactText(ImaginaryText(options).drawing))
        default: nil
        }
    }

    var cropsZoomed: Bool { options.top > 0 || options.left > 0 }
}

enum ImaginaryType {
    private static let formats: [ExactText: ImageFormat?] = [
        "jpeg": .jpeg, "png": .png, "webp": .webp, "tiff": .tiff, "gif": nil, "svg": nil, "pdf": nil,
    ]
    static let unknown = APIError.badChoice("type", allowed: ["jpeg", "png", "webp", "auto"])

    static func isUnknown(_ text: ExactText) -> Bool {
        text != "" && text != "auto" && formats[ExactText(text.string.asciiLowercased)] == nil
    }

    static func format(_ text: ExactText) throws(APIError) -> ImageFormat? {
        if text == "" { return nil }
        guard let format = formats[ExactText(text.string.asciiLowercased)] ?? nil else { throw unknown }
        return format
    }
}
