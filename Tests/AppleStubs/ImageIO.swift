// swift-format-ignore-file
// The names are Apple's.

public import CoreGraphics

public final class CGImageSource {}

public let kCGImageSourceShouldCache: CFString = ""
public let kCGImageSourceShouldCacheImmediately: CFString = ""

public func CGImageSourceCreateWithData(_ data: CFData, _ options: CFDictionary?) -> CGImageSource? { nil }

public func CGImageSourceCreateImageAtIndex(
    _ isrc: CGImageSource, _ index: Int, _ options: CFDictionary?
) -> CGImage? { nil }
