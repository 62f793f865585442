import Downloading
import Text

/// The settings after a reload, and what it could not change.
package struct ReloadedSettings: Sendable {
    package private(set) var settings: Settings
    package private(set) var changed: [String] = []
    package private(set) var needingRestart: [String] = []

    /// Takes from `new` all settings that can change while the service runs.
    ///
    /// - Throws: If they contradict the settings that stay.
    package init(_ current: Settings, changedTo new: Settings) throws(SettingsLoader.Failure) {
        settings = current
        for setting in SettingTable.all {
            let name = ExactText(setting.name)
            let differs = current.texts[name] != new.texts[name]
            guard SettingTable.reloadable.contains(name) else {
                if differs { needingRestart.append(setting.name) }
                continue
            }
            setting.copy(&settings, new)
            (settings.chosen[name], settings.texts[name]) = (new.chosen[name], new.texts[name])
            if differs { changed.append(setting.name) }
        }
        // A secret of theirs may have changed.
        if !changed.contains("origins"), current.downloads.origins.digests != settings.downloads.origins.digests {
            changed.append("origins")
        }
        checkResultStore(current)
        settings.deriveDialects()
        let contradictions = settings.contradictions
        guard contradictions.isEmpty else {
            throw SettingsLoader.Failure(lines: contradictions.map(\.line))
        }
    }

    /// The store that is in use belongs to its origin as it was.
    private mutating func checkResultStore(_ current: Settings) {
        guard let name = current.resultStore.origin else { return }
        let (old, new) = (current.downloads.origins[name], settings.downloads.origins[name])
        if let new, new.digest != old?.digest { needingRestart.append("origins.\(name)") }
    }
}
