import Dialects
import HTTPTypes
import Memory
import Telemetry
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// Streams events until the client disconnects or the service shuts down.
struct EventResponder: Sendable {
    let feed: EventFeed
    let control: any ServiceControlling
    let common: HTTPFields

    func response(to request: HTTPRequest, parameters: AdminParameters) throws -> HTTPResponse {
        let filter = try filter(in: parameters)
        // Browsers send the field only when they reconnect; the parameter is for the first connection.
        let field = request.headerFields[.lastEventID].flatMap { $0.isEmpty ? nil : $0 }
        let lastID =
            try number(field, of: HTTPField.Name.lastEventID.rawName)
            ?? number(parameters[.after], of: AdminParameter.after.rawValue)
        var fields = common
        fields.append(.contentType, "text/event-stream")
        fields.append(.cacheControl, "no-store")
        var response = HTTPResponse(status: .ok, headerFields: fields)
        if request.method != .head { response.body = .streamed(try stream(filter, after: lastID)) }
        return response
    }

    private func stream(_ filter: EventFilter, after lastID: Int?) throws(APIError) -> StreamedBody {
        let reader: EventReader
        do throws(EventFeed.Full) {
            reader = try feed.open(filter, after: lastID)
        } catch {
            throw .tooManyReaders
        }
        let body = StreamedBody(allowsPausing: true)
        body.onClose { reader.close() }
        // Detached: the stream outlives the call on the event thread.
        Task.detached {
            do throws(StreamedBody.Closed) {
                while let bytes = await reader.next() { try await body.write(SharedBytes(bytes)) }
            } catch {
                reader.close()
            }
            body.finish()
        }
        return body
    }

    private func filter(in parameters: AdminParameters) throws -> EventFilter {
        let url = try parameters.source().map { try control.sourceName(of: $0) }
        guard let types = parameters[.types] else { return EventFilter(url: url) }
        var kinds: Set<ServiceEvent.Kind> = []
        for name in types.split(separator: ",", omittingEmptySubsequences: false) {
            let kind: ServiceEvent.Kind = try ParameterGrammar.choice(
                String(name), parameter: AdminParameter.types.rawValue)
            guard kinds.insert(kind).inserted else {
                throw APIError.badParameter(AdminParameter.types.rawValue, "Names \(name) twice.")
            }
        }
        return EventFilter(kinds: kinds, url: url)
    }

    private func number(_ text: String?, of name: String) throws(APIError) -> Int? {
        guard let text else { return nil }
        guard !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit), let id = Int(text) else {
            throw .badParameter(name, "Must be the id of an event.")
        }
        return id
    }
}
