/// What the planar lane made of a file.
enum PlanarReading {
    /// The picture, in planes.
    case decoded(DecodedImage)
    /// The other lane is to decode it; whether it lacks pixels, as far as that is known here.
    case judged(lacksPixels: Bool)
}
