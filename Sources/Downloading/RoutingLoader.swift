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
        let loader =
            switch request.identity.rules.origin?.location {
            case .web, nil: web
            case .folder, .memory: folders
            }
        return try await loader.load(request, progress: progress, admitHop: admitHop)
    }
}
