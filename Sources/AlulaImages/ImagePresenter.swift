public import AlulaClient
public import Foundation

/// Shows one image at a time in a view that is reused, such as the image view of a cell.
///
/// A new image cancels the load of the one before, which never appears late.
@MainActor
public final class ImagePresenter<Decoder: ThumbnailDecoding> {
    /// An image of the platform.
    public typealias Image = Decoder.Image

    private var task: Task<Void, Never>?

    /// Creates a presenter that shows nothing.
    public init() {}

    deinit { task?.cancel() }

    /// Shows an image: at once if its pixels are in memory, otherwise after a placeholder.
    ///
    /// - Parameters:
    ///   - url: A URL of the service; nil shows the placeholder alone.
    ///   - loader: The loader of the image.
    ///   - priority: The importance of the load.
    ///   - placeholder: The image to show until then, and if the load fails.
    ///   - completion: Called with the result, unless the load is canceled.
    ///   - show: Sets the image of the view.
    public func present(
        _ url: URL?, from loader: ImageLoader<Decoder>, priority: ThumbnailLoader.Priority = .normal,
        placeholder: Image? = nil, completion: (@MainActor (Result<Image, ClientError>) -> Void)? = nil,
        show: @escaping @MainActor (Image?) -> Void
    ) {
        cancel()
        guard let url else { return show(placeholder) }
        if let image = loader.cachedImage(at: url) {
            show(image)
            completion?(.success(image))
            return
        }
        show(placeholder)
        task = Task {
            let result: Result<Image, ClientError>
            do throws(ClientError) {
                result = .success(try await loader.image(at: url, priority: priority))
            } catch {
                result = .failure(error)
            }
            // Only another call cancels the task, on this actor.
            guard !Task.isCancelled else { return }
            if case .success(let image) = result { show(image) }
            completion?(result)
        }
    }

    /// Cancels the load; the view keeps its image.
    public func cancel() {
        task?.cancel()
        task = nil
    }
}
