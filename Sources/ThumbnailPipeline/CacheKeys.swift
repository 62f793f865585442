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
    private let hash: Int

    /// The key of a plan for a source as `validator` names its bytes; hashed here, once.
    init(source: SourceIdentity, validator: SourceValidator, plan: RenderPlan) {
        self.source = source
        self.validator = validator
        self.plan = plan
        var hasher = Hasher()
        hasher.combine(source)
        hasher.combine(validator)
        hasher.combine(plan)
        hash = hasher.finalize()
    }

    /// Hashes source, validator and plan.
    func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    /// The decoded image that the result is rendered from.
    var decodeKey: DecodeKey { DecodeKey(source: source, validator: validator, plan: plan.decode) }
}

/// Sources are kept one per identity.
struct SourceKey: SourceKeyed {
    let source: SourceIdentity
}
