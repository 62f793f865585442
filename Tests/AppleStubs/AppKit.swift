// swift-format-ignore-file
// The names are Apple's.

public import CoreGraphics
public import Foundation

open class NSImage: NSObject {
    public init(cgImage: CGImage, size: NSSize) {}
}

@MainActor
open class NSView: NSObject {}

@MainActor
open class NSImageView: NSView {
    open var image: NSImage?
}
