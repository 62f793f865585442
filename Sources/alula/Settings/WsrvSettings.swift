import ThumbnailAPI

extension SettingTable {
    /// The settings of the dialect of weserv/images.
    static let wsrv: [Setting] = [
        Setting(
            name: "wsrvPath", defaultText: "none",
            help: "where URLs of weserv/images (wsrv.nl) are served: a prefix such as /wsrv, or /"
        ) {
            (settings, text) throws(InvalidValue) in
            guard let place = DialectPlace(text) else {
                throw InvalidValue(allowed: "/ or a path such as /wsrv")
            }
            settings.dialects.wsrv.place = place
        }
    ]
}
