package struct RoutingLoader: DataLoading {
    private let web: any DataLoading
    private let folders: any DataLoading

    package init(web: any DataLoading, folders: any DataLoading) {
        self.web = web
        self.folders = folders
    }

    package func load(
        _ request: TransferRequest, progress: TransferProgress, admitHop: @escaping HopAdmission
    ) async throws -> TransferResult {
        let isInFolder = request.identity.url.scheme == SourceURL.folderScheme
        return try await (isInFolder ? folders : web).load(request, progress: progress, admitHop: admitHop)
    }
}
