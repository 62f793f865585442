import Dialects
import Recipes
import Text
import ThumbnailAPI
import ThumbnailPipeline

extension SettingTable {
    static let quality: [Setting] = [
        Setting(
            "autoQuality", \.pipeline.rules.similarity.minimum, as: similarity, default: "0.98",
            help: "q=auto: sufficient similarity, 0 to 1", forCommands: true),
        Setting(
            "autoQualityMin", \.pipeline.rules.similarity.lowest, as: .integer(in: 1...100), default: "40",
            help: "q=auto: lowest quality", forCommands: true),
        Setting(
            "autoQualityMax", \.pipeline.rules.similarity.highest, as: .integer(in: 1...100), default: "90",
            help: "q=auto: highest quality", forCommands: true),
    ]

    /// Reads a similarity as ten-thousandths.
    private static let similarity = SettingParser(allowed: "a number from 0 to 1 with at most four decimals") {
        ParameterGrammar.fraction($0, decimals: 4, in: 0...10_000)
    }
}

extension Settings {
    var hasContradictoryQualities: Bool { pipeline.rules.similarity.lowest > pipeline.rules.similarity.highest }
}

extension SettingTable {
    static let sizes: [Setting] = [
        Setting(
            "sizes", \.api.vocabulary.sizes.sizes, as: .integers(in: 1...16_384), whenUnset: "any",
            help: "sides in pixels that unsigned requests may use", reloads: true),
        Setting(
            "qualities", \.api.vocabulary.sizes.qualities, as: .integers(in: 1...100), whenUnset: "any",
            help: "qualities that unsigned requests may use", reloads: true),
        Setting(
            "sizesPolicy", \.api.vocabulary.sizes.rule, as: .choice, default: "refuse",
            help: "up: replace other sizes with the next larger one", reloads: true),
        Setting(
            "autoWidth", \.api.vocabulary.sizes.automaticWidth, as: .integer(in: 1...16_384), default: "640",
            help: "w=auto: width for clients without hints", reloads: true),
        Setting(
            "saveDataQuality", \.api.saveDataQuality, as: .integer(in: 1...100),
            help: "maximum default quality for clients that save data", reloads: true),
    ]
}
