import Dialects
import HTTPTypes
import Text

enum RenditionForm: CaseIterable, Sendable {
    case multipart
    case tar
    case json

    /// Selects a form by weight, then by specificity (RFC 9110 section 12.5.1).
    init(accept: String?) {
        let members = HTTPSyntax.list(accept ?? "").map { member in
            (type: ExactText(MediaType(member)?.description ?? ""), weight: AcceptedFormats.weight(of: member) ?? 0)
        }
        var best = (form: RenditionForm.multipart, weight: 0, rank: 0)
        for form in Self.allCases {
            let ranges = form.ranges
            for (place, range) in ranges.enumerated() {
                guard let weight = members.filter({ $0.type == range }).map(\.weight).max() else { continue }
                let rank = ranges.count - place
                if (weight, rank) > (best.weight, best.rank), weight > 0 { best = (form, weight, rank) }
                break
            }
        }
        self = best.form
    }

    /// The matching media ranges, the most specific first.
    private var ranges: [ExactText] {
        switch self {
        case .multipart: ["multipart/mixed", "multipart/*", "*/*"]
        case .tar: ["application/x-tar", "application/*", "*/*"]
        case .json: ["application/json", "application/*", "*/*"]
        }
    }
}
