// swift-format-ignore-file
// The names are Apple's.

public import CoreGraphics
public import Foundation

open class UIImage: NSObject, @unchecked Sendable {
    public init(cgImage: CGImage) {}
}

@MainActor
open class UIView: NSObject {}

@MainActor
open class UIImageView: UIView {
    open var image: UIImage?
}

@MainActor
open class UIApplication: NSObject {
    public nonisolated static let didReceiveMemoryWarningNotification = NSNotification.Name("")
}
