// swift-format-ignore-file
// The names are Apple's.

public import Foundation

// Declarations of Core Foundation and Core Graphics; bridging casts return their argument.

public typealias CFString = String
public typealias CFData = Data
public typealias CFDictionary = [CFString: Any]

public final class CGImage {
    public let width: Int
    public let height: Int
    public let bytesPerRow: Int

    init(width: Int, height: Int, bytesPerRow: Int) {
        (self.width, self.height, self.bytesPerRow) = (width, height, bytesPerRow)
    }
}
