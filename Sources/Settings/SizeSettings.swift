import Dialects
import ThumbnailAPI

extension SettingTable {
    static let sizes: [Setting] = [
        Setting(name: "sizes", defaultText: "any", help: "sides in pixels that unsigned requests may ask for") {
            (settings, text) throws(InvalidValue) in
            settings.api.vocabulary.sizes.allow(sizes: try SettingValues.integers(text, in: 1...16_384))
        },
        Setting(name: "qualities", defaultText: "any", help: "qualities that unsigned requests may ask for") {
            (settings, text) throws(InvalidValue) in
            settings.api.vocabulary.sizes.allow(qualities: try SettingValues.integers(text, in: 1...100))
        },
        .choice(
            "sizesPolicy", \.api.vocabulary.sizes.rule, default: "refuse",
            help: "up: the next larger one is served in place of others"),
        .integer(
            "autoWidth", \.api.vocabulary.sizes.automaticWidth, in: 1...16_384, default: "640",
            help: "w=auto: width for clients that do not tell theirs"),
        Setting(
            name: "saveDataQuality", defaultText: "none",
            help: "highest quality for clients that save data, if nothing names one"
        ) {
            (settings, text) throws(InvalidValue) in
            settings.api.saveDataQuality = try SettingValues.integer(text, in: 1...100)
        },
    ]
}
