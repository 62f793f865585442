// swift-format-ignore-file
// An app as in docs/swift.md, with the compiler's default settings.

import AlulaClient
import AlulaImages
import Foundation
import SwiftUI

#if canImport(UIKit)
import UIKit
#else
import AppKit
#endif

func imagesOfApp() throws -> PlatformImageLoader {
    try PlatformImageLoader(ThumbnailService(URL(filePath: "/")))
}

struct Row: View {
    let url: URL?
    let images: PlatformImageLoader

    var body: some View {
        ThumbnailImage(url, from: images) { image in
            image
        } placeholder: {
            Row(url: nil, images: images)
        }
    }
}

struct Phases: View {
    let request: ThumbnailRequest
    let images: PlatformImageLoader

    var body: some View {
        ThumbnailImage(request, from: images, priority: .high) { phase in
            if case .success(let image) = phase {
                image
            } else {
                Row(url: nil, images: images)
            }
        }
    }
}

@MainActor
final class Cell {
    let view: PlatformImageView
    let images: PlatformImageLoader
    let prefetcher: ThumbnailPrefetcher

    init(_ view: PlatformImageView, _ images: PlatformImageLoader) {
        (self.view, self.images) = (view, images)
        prefetcher = ThumbnailPrefetcher(images)
    }

    func show(_ url: URL, instead placeholder: PlatformImage?) {
        prefetcher.startPrefetching([url])
        view.setThumbnail(url, from: images, placeholder: placeholder)
        view.setThumbnail(url, from: images, priority: .low) { [weak self] result in
            if case .failure = result { self?.view.image = nil }
        }
    }

    func prepareForReuse() { view.cancelThumbnail() }

    func load(_ url: URL) async throws -> PlatformImage {
        try await images.image(at: url) { progress in _ = progress.fraction }.platformImage
    }
}
