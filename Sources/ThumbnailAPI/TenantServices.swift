package import ThumbnailPipeline

/// The configuration and the pipeline that serve one tenant.
package struct TenantServices: Sendable {
    let configuration: APIConfiguration
    let thumbnails: any ThumbnailServing
    let resultWriter: ResultWriter
    /// The account; nil if costs are not recorded.
    let account: TenantAccount?

    package init(
        _ configuration: APIConfiguration, thumbnails: any ThumbnailServing,
        resultWriter: ResultWriter = ResultWriter(), account: TenantAccount? = nil
    ) {
        self.configuration = configuration
        self.thumbnails = thumbnails
        self.resultWriter = resultWriter
        self.account = account
    }
}
