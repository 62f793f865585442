/// The settings of the dialect of weserv/images, the service behind wsrv.nl.
package struct WsrvConfiguration: Hashable, Sendable {
    /// Where the dialect lies; nil if it is off.
    package var place: DialectPlace?

    /// The defaults: the dialect is off.
    package init() {}
}
