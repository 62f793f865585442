import Downloading
import Text

/// The settings after a reload, with the names of changed settings that require a restart.
package struct ReloadedSettings: Sendable {
    package private(set) var settings: Settings
    package private(set) var changed: [String] = []
    package private(set) var needingRestart: [String] = []

    /// Combines the current settings with all settings from `new` that can change while the service runs.
    ///
    /// - Throws: If these contradict the settings that stay.
    package init(_ current: Settings, changedTo new: Settings) throws(SettingsLoader.Failure) {
        settings = current
        for setting in SettingTable.all {
            let name = ExactText(setting.name)
            let differs = current.texts[name] != new.texts[name]
            guard setting.isReloadable else {
                if differs { needingRestart.append(setting.name) }
                continue
            }
            setting.copy(&settings, new)
            settings.chosen[name] = new.chosen[name]
            settings.texts[name] = new.texts[name]
            if differs { changed.append(setting.name) }
        }
        // A secret of an origin may have changed.
        if !changed.contains("origins"), current.downloads.origins.digests != settings.downloads.origins.digests {
            changed.append("origins")
        }
        if !changed.contains("tenants"), current.tenants != settings.tenants { changed.append("tenants") }
        keepResultStoreOrigin(current)
        settings.deriveDialects()
        let contradictions = settings.contradictions
        guard contradictions.isEmpty else { throw SettingsLoader.Failure(lines: contradictions.map(\.line)) }
    }

    /// Records that a change of this setting requires a restart.
    package mutating func keep(_ name: String, of current: Settings) {
        guard let setting = SettingTable.named(name), changed.contains(name) else { return }
        setting.copy(&settings, current)
        let key = ExactText(name)
        settings.chosen[key] = current.chosen[key]
        settings.texts[key] = current.texts[key]
        changed.removeAll { $0 == name }
        needingRestart.append(name)
    }

    /// Keeps the origin of the result store, which is in use.
    private mutating func keepResultStoreOrigin(_ current: Settings) {
        guard let name = current.resultStore.origin, let old = current.downloads.origins[name],
            let new = settings.downloads.origins[name], new.digest != old.digest
        else { return }
        needingRestart.append("origins.\(name)")
        settings.downloads.origins = Origins(settings.downloads.origins.all.filter { $0.name != name } + [old])
    }
}
