#if canImport(SwiftUI) && canImport(ImageIO)
public import AlulaClient
public import Foundation
public import SwiftUI

/// A state of a ``ThumbnailImage``.
public enum ThumbnailPhase: Sendable {
    /// The image is being loaded; with the progress as soon as bytes arrive.
    case loading(TransferProgress?)
    /// The image.
    case success(Image)
    /// The reason of the failure.
    case failure(ClientError)
}

/// A view that loads a thumbnail and shows it, such as `AsyncImage`, but with caches, priorities and progress.
///
/// The load is canceled when the view disappears or gets another URL.
///
/// ```swift
/// ThumbnailImage(url, from: images) { phase in
///     switch phase {
///     case .loading: Color.gray.opacity(0.2)
///     case .success(let image): image.resizable().scaledToFill()
///     case .failure: Image(systemName: "photo")
///     }
/// }
/// ```
public struct ThumbnailImage<Content: View>: View {
    private let url: URL?
    private let loader: PlatformImageLoader
    private let priority: ThumbnailLoader.Priority
    private let content: (ThumbnailPhase) -> Content
    /// The state of a load, which counts only for its URL.
    @State private var state: (url: URL?, phase: ThumbnailPhase) = (nil, .loading(nil))

    /// Creates a view for the thumbnail at a URL.
    ///
    /// - Parameters:
    ///   - url: A URL of the service; nil stays in the phase `loading`.
    ///   - loader: The loader, shared by the views of an app.
    ///   - priority: The importance of the load.
    ///   - content: Builds the view of a phase.
    public init(
        _ url: URL?, from loader: PlatformImageLoader, priority: ThumbnailLoader.Priority = .normal,
        @ViewBuilder content: @escaping (ThumbnailPhase) -> Content
    ) {
        self.url = url
        self.loader = loader
        self.priority = priority
        self.content = content
    }

    /// Creates a view for the thumbnail of a source.
    ///
    /// - Parameters:
    ///   - request: The source and the appearance of its thumbnail.
    ///   - loader: The loader, shared by the views of an app.
    ///   - priority: The importance of the load.
    ///   - content: Builds the view of a phase.
    public init(
        _ request: ThumbnailRequest, from loader: PlatformImageLoader, priority: ThumbnailLoader.Priority = .normal,
        @ViewBuilder content: @escaping (ThumbnailPhase) -> Content
    ) {
        self.init(loader.thumbnails.service.url(of: request), from: loader, priority: priority, content: content)
    }

    public var body: some View {
        content(phase).task(id: url) { await load() }
    }

    /// The phase; an image in memory is there from the first frame.
    private var phase: ThumbnailPhase {
        if state.url == url, case .success = state.phase { return state.phase }
        if let url, let image = loader.cachedImage(at: url) { return .success(image.image) }
        return state.url == url ? state.phase : .loading(nil)
    }

    @MainActor
    private func load() async {
        guard let url else { return }
        // A view that appears again keeps its image until it is known to have changed.
        let isShown = if case .success = phase { true } else { false }
        if !isShown { state = (url, .loading(nil)) }
        do throws(ClientError) {
            let image = try await loader.image(at: url, priority: priority) { progress in
                if !isShown { state = (url, .loading(progress)) }
            }
            state = (url, .success(image.image))
        } catch {
            if !isShown, !Task.isCancelled { state = (url, .failure(error)) }
        }
    }
}

extension ThumbnailImage {
    /// Creates a view that shows a placeholder until the thumbnail is available, and if the load fails.
    ///
    /// - Parameters:
    ///   - url: A URL of the service; nil shows the placeholder.
    ///   - loader: The loader, shared by the views of an app.
    ///   - priority: The importance of the load.
    ///   - image: Builds the view of the image.
    ///   - placeholder: Builds the placeholder.
    public init<Loaded: View, Placeholder: View>(
        _ url: URL?, from loader: PlatformImageLoader, priority: ThumbnailLoader.Priority = .normal,
        @ViewBuilder image: @escaping (Image) -> Loaded, @ViewBuilder placeholder: @escaping () -> Placeholder
    ) where Content == ThumbnailContent<Loaded, Placeholder> {
        self.init(url, from: loader, priority: priority) { phase in
            ThumbnailContent(phase: phase, image: image, placeholder: placeholder)
        }
    }
}

/// The content of a ``ThumbnailImage`` with a placeholder.
public struct ThumbnailContent<Loaded: View, Placeholder: View>: View {
    let phase: ThumbnailPhase
    let image: (Image) -> Loaded
    let placeholder: () -> Placeholder

    public var body: some View {
        if case .success(let loaded) = phase { image(loaded) } else { placeholder() }
    }
}

extension DecodedImage {
    /// The image for SwiftUI.
    public var image: Image { Image(decorative: cgImage, scale: 1) }
}
#endif
