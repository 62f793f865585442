import Memory

/// A file whose end was missing, with an end.
struct EndedFile {
    let bytes: SharedBytes
    /// Whether more than the end was missing of what is wanted: what stands for it is grey, or what was there before.
    let isIncomplete: Bool
}
