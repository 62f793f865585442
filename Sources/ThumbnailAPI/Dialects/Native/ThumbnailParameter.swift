/// A parameter of `/thumbnail`, by its main name.
enum ThumbnailParameter: String, CaseIterable {
    case url
    case width = "w"
    case height = "h"
    case fit
    case enlarge
    case devicePixelRatio = "dpr"
    case gravity
    case focalX = "fx"
    case focalY = "fy"
    case background
    case format
    case quality = "q"
    case page
    case animated
    case placeholder
    case expires
    case signature = "sig"

    /// The parameter of this name or alias.
    init?(name: String) {
        switch name {
        case "width": self = .width
        case "height": self = .height
        case "quality": self = .quality
        default: self.init(rawValue: name)
        }
    }
}
