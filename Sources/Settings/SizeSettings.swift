import Dialects
import ThumbnailAPI

extension SettingTable {
    static let sizes: [Setting] = [
        Setting(
            "sizes", \.api.vocabulary.sizes.sizes, .integers(in: 1...16_384), none: "any",
            help: "sides in pixels that unsigned requests may use"),
        Setting(
            "qualities", \.api.vocabulary.sizes.qualities, .integers(in: 1...100), none: "any",
            help: "qualities that unsigned requests may use"),
        Setting(
            "sizesPolicy", \.api.vocabulary.sizes.rule, .choice, default: "refuse",
            help: "up: replace other sizes by the next larger one"),
        Setting(
            "autoWidth", \.api.vocabulary.sizes.automaticWidth, .integer(in: 1...16_384), default: "640",
            help: "w=auto: width for clients without hints"),
        Setting(
            "saveDataQuality", \.api.saveDataQuality, .integer(in: 1...100),
            help: "maximum default quality for clients that save data"),
    ]
}
