import Dialects
import HTTPTypes
import Memory
import Telemetry
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// Answers `GET /events`: a stream of events that ends only when its reader disconnects or the service ends.
struct EventResponder: Sendable {
    let feed: EventFeed
    let control: any ServiceControlling
    let common: HTTPFields

    /// Returns the requested stream.
    ///
    /// - Throws: A ``ServiceError`` for an invalid filter or number, or if there are too many readers.
    func response(to request: HTTPRequest, _ parameters: AdminParameters) throws -> HTTPResponse {
        let filter = try filter(in: parameters)
        let lastID = try lastID(in: request.headerFields)
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
            let kind: ServiceEvent.Kind = try ParameterGrammar.choice(String(name), AdminParameter.types.rawValue)
            guard kinds.insert(kind).inserted else {
                throw APIError.badParameter(AdminParameter.types.rawValue, "Names \(name) twice.")
            }
        }
        return EventFilter(kinds: kinds, url: url)
    }

    /// Returns the number of the last event that the reader received; nil if there is none, or if a browser sent an
    /// empty field.
    private func lastID(in fields: HTTPFields) throws(APIError) -> Int? {
        guard let text = fields[.lastEventID], !text.isEmpty else { return nil }
        guard text.utf8.allSatisfy(\.isASCIIDigit), let id = Int(text) else {
            throw .badParameter(HTTPField.Name.lastEventID.rawName, "Must be the id of an event.")
        }
        return id
    }
}
