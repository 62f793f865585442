package import Recipes
import Text
package import ThumbnailTypes

package struct NativeParameters {
    /// The parameters in the order of the documentation.
    package private(set) var all: [(name: String, value: String)] = []
    /// Steps without equivalent parameters.
    package private(set) var unexpressedSteps: [String] = []
    private var values: [ExactText: String] = [:]
    /// The size before margins and free rotations.
    private var box: PixelSize
    private let additional: [AdditionalSource]

    package init(of request: Request, plan: RenderPlan) {
        box = plan.source.size
        additional = request.additional
        if let target = ThumbnailTarget.generate(request) {
            all = ((try? RawQuery(target: target).decoded()) ?? []).filter {
                $0.name != "url"
            }
            return
        }
        for parameter in ThumbnailParameter.all { values[ExactText(parameter.name)] = parameter.value(plan) }
        if plan.timing != nil { unexpressedSteps.append("set the delays and loops of the animation") }
        var shape = plan.source
        for step in plan.steps {
            let next = step.shape(after: shape)
            if !set(step, on: shape.size) { unexpressedSteps.append(step.summary) }
            if !(step is MarginStep), !(step is RotationStep) { box = next.size }
            shape = next
        }
        values["w"] = String(box.width)
        values["h"] = String(box.height)
        if values["fit"] == nil { values["fit"] = Fit.cover.rawValue }
        if plan.isDataURL { unexpressedSteps.append("write the file as a data: URL") }
        values["expires"] = request.expires.map(String.init)
        all = ThumbnailParameter.all.compactMap { parameter in
            values[ExactText(parameter.name)].map { (name: parameter.name, value: $0) }
        }
    }

    private mutating func set(_ step: any RenderStep, on size: PixelSize) -> Bool {
        guard var parameters = step.parameters(on: size) else { return false }
        // Parameters can express only one resize; `w` and `h` then hold the last size.
        if step is ResampleStep, values["w"] != nil { return false }
        if let overlay = step as? OverlayStep {
            guard additional.indices ~= overlay.addition, values["watermark"] == nil else { return false }
            parameters.append(("watermark", additional[overlay.addition].source.string))
        }
        return parameters.allSatisfy { name, value in
            let name = ExactText(name)
            guard values[name].map({ $0 == value }) ?? true else { return false }
            values[name] = value
            return true
        }
    }
}
