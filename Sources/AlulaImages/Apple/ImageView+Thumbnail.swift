#if canImport(ObjectiveC) && canImport(ImageIO) && !os(watchOS)
public import AlulaClient
public import Foundation
import ObjectiveC

#if canImport(UIKit)
public import UIKit

/// The class of views that show an image.
public typealias PlatformImageView = UIImageView
#elseif canImport(AppKit)
public import AppKit

/// The class of views that show an image.
public typealias PlatformImageView = NSImageView
#endif

extension PlatformImageView {
    /// Loads a thumbnail and shows it.
    ///
    /// An image in memory is shown at once. Another call cancels this one, so that a reused cell never shows the image
    /// of an earlier row. Call ``cancelThumbnail()`` in `prepareForReuse` to cancel the load as soon as the cell has
    /// left the screen.
    ///
    /// - Parameters:
    ///   - url: A URL of the service; nil shows the placeholder.
    ///   - loader: The loader, shared by the views of an app.
    ///   - priority: The importance of the load.
    ///   - placeholder: The image to show until then, and if the load fails.
    ///   - completion: Called with the result, unless the load is canceled.
    public func setThumbnail(
        _ url: URL?, from loader: PlatformImageLoader, priority: ThumbnailLoader.Priority = .normal,
        placeholder: PlatformImage? = nil, completion: (@MainActor (Result<PlatformImage, ClientError>) -> Void)? = nil
    ) {
        presenter.present(
            url, from: loader, priority: priority, completion: { completion?($0.map(\.platformImage)) },
            show: { [weak self] image in self?.image = image?.platformImage ?? placeholder })
    }

    /// Cancels the load of a thumbnail; the view keeps its image.
    public func cancelThumbnail() { presenter.cancel() }

    /// The presenter of this view, which is created with its first thumbnail.
    private var presenter: ImagePresenter<ImageIODecoder> {
        if let presenter = unsafe objc_getAssociatedObject(self, &presenterKey) as? ImagePresenter<ImageIODecoder> {
            return presenter
        }
        let presenter = ImagePresenter<ImageIODecoder>()
        unsafe objc_setAssociatedObject(self, &presenterKey, presenter, .OBJC_ASSOCIATION_RETAIN_NONATOMIC)
        return presenter
    }
}

/// A variable whose address is the key under which a view holds its presenter.
private nonisolated(unsafe) var presenterKey: UInt8 = 0
#endif
