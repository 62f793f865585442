/// What the planar lane made from a file.
enum PlanarReading {
    /// The image, in planes.
    case decoded(DecodedImage)
    /// The other lane must decode the file; `lacksPixels` is true if the file is already known to lack pixels.
    case judged(lacksPixels: Bool)
}
