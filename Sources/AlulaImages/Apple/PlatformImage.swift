#if canImport(ImageIO)
public import AlulaClient
public import CoreGraphics
public import Foundation
import ImageIO

#if canImport(UIKit)
public import UIKit

/// The class of images that views of the platform show.
public typealias PlatformImage = UIImage
#elseif canImport(AppKit)
public import AppKit

/// The class of images that views of the platform show.
public typealias PlatformImage = NSImage
#endif

/// An image whose pixels are in memory.
public struct DecodedImage: @unchecked Sendable {
    // `CGImage` is immutable.
    /// The pixels, upright.
    public let cgImage: CGImage

    /// The image for views, with one point for each pixel; scale it by the layout.
    public var platformImage: PlatformImage {
        #if canImport(UIKit)
        PlatformImage(cgImage: cgImage)
        #else
        PlatformImage(cgImage: cgImage, size: CGSize(width: cgImage.width, height: cgImage.height))
        #endif
    }
}

/// The decoder of Apple's platforms.
///
/// It decodes the first frame of animated images.
public struct ImageIODecoder: ThumbnailDecoding {
    /// Creates a decoder.
    public init() {}

    public func image(from data: Data) -> DecodedImage? {
        // Image I/O decodes now, on this thread, and not when the image is first drawn.
        let options: [CFString: Any] = [kCGImageSourceShouldCache: true, kCGImageSourceShouldCacheImmediately: true]
        guard let source = CGImageSourceCreateWithData(data as CFData, nil),
            let image = CGImageSourceCreateImageAtIndex(source, 0, options as CFDictionary)
        else { return nil }
        return DecodedImage(cgImage: image)
    }

    public func cost(of image: DecodedImage) -> Int { image.cgImage.bytesPerRow * image.cgImage.height }
}

/// The loader of images on Apple's platforms.
public typealias PlatformImageLoader = ImageLoader<ImageIODecoder>

extension ImageLoader<ImageIODecoder> {
    /// Creates a loader with Image I/O's decoder, which leaves memory on the app's memory warnings.
    public convenience init(_ thumbnails: ThumbnailLoader, configuration: Configuration = Configuration()) {
        self.init(thumbnails, decoder: ImageIODecoder(), configuration: configuration)
        #if canImport(UIKit) && !os(watchOS)
        _ = NotificationCenter.default.addObserver(
            forName: UIApplication.didReceiveMemoryWarningNotification, object: nil, queue: nil
        ) { [weak self] _ in
            self?.removeAllFromMemory()
        }
        #endif
    }

    /// Creates a loader for the thumbnails of a service, with files on disk and pixels in memory.
    public convenience init(_ service: ThumbnailService) {
        var files = ThumbnailLoader.Configuration()
        files.order = .lifo
        // The pixels are in memory already.
        files.memory = ThumbnailMemoryCache<Thumbnail>(capacity: 20 << 20)
        files.disk = ThumbnailDiskCache()
        self.init(ThumbnailLoader(service, configuration: files))
    }
}
#endif
