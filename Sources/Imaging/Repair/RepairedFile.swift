import Memory

/// A file that the decoder can read to its end.
struct RepairedFile {
    let bytes: SharedBytes
    /// Whether the wanted frames lack pixels; these are grey, or have the pixels of the frame before.
    let isIncomplete: Bool
}
