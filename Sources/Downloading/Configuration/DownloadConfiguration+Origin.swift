extension DownloadConfiguration {
    /// These settings with the limits of an origin.
    func adapted(to origin: Origin) -> DownloadConfiguration {
        var copy = self
        copy.connectTimeout = origin.limits.connectTimeout ?? connectTimeout
        copy.firstByteTimeout = origin.limits.firstByteTimeout ?? firstByteTimeout
        copy.downloadTimeout = origin.limits.downloadTimeout ?? downloadTimeout
        copy.maximumBytes = origin.limits.maximumBytes ?? maximumBytes
        copy.maximumRedirects = origin.limits.maximumRedirects ?? maximumRedirects
        copy.certificateAuthorities = origin.certificateAuthorities ?? certificateAuthorities
        return copy
    }
}
