import Downloading
import ImageCaching
import Imaging

/// What makes two decoded images the same: the source's bytes, the page and the level.
struct DecodeKey: SourceKeyed {
    let source: SourceIdentity
    let validator: SourceValidator
    let plan: DecodePlan
}

/// What makes two results the same: the source's bytes and all that decides pixels and encoding.
struct ResultKey: SourceKeyed {
    let source: SourceIdentity
    let validator: SourceValidator
    let plan: RenderPlan

    /// The decoded image that the result is rendered from.
    var decodeKey: DecodeKey { DecodeKey(source: source, validator: validator, plan: plan.decode) }
}

/// Sources are kept one per identity.
struct SourceKey: SourceKeyed {
    let source: SourceIdentity
}
