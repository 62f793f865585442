/// The removal of all that was asked for under a tag.
package struct TagRemoval: Sendable {
    let tag: SharedTag
    /// Told which sources the place knew under the tag, when it has made them unreadable; on any thread, must be quick.
    let onFound: @Sendable ([NamedSource]) -> Void

    /// Most sources of a tag that are removed one by one; for more, everything is removed.
    static let mostSources = 100_000

    package init(of tag: SharedTag, onFound: @escaping @Sendable ([NamedSource]) -> Void) {
        (self.tag, self.onFound) = (tag, onFound)
    }
}
