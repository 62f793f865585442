import Text

extension SettingTable {
    package static let processing = all.filter { processingNames.contains(ExactText($0.name)) }

    private static let processingNames: Set<ExactText> = [
        // Fetching.
        "maxActiveDownloads", "maxActiveDownloadsPerHost", "maxRedirects", "connectTimeout", "firstByteTimeout",
        "downloadTimeout", "userAgent", "allowedNetworks", "allowedSources", "allowedPorts",
        // Sources.
        "sourceFormats", "maxSourceBytes", "maxSourcePixels", "maxFrames", "incompleteImages",
        // Results.
        "maxOutputPixels", "maxOutputPixelsSlow", "resample", "gamut", "jpegProgressive", "webpEffort", "avifEffort",
        "jxlEffort", "autoQuality", "autoQualityMin", "autoQualityMax",
        // The work.
        "decodeTimeout", "requireSandbox", "decodeInProcess", "renderWorkers", "memoryBudget", "logFormat", "logLevel",
    ]
}
