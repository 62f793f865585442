import HTTPTypes
import Testing

@testable import Downloading

struct ResponseHeadTests {
    @Test(arguments: [200, 201, 202, 203, 226])
    func `five statuses carry an image`(status: Int) throws {
        #expect(try decision(status, [("Content-Type", "image/png")]) == .accept)
    }

    @Test(arguments: [204, 205])
    func `a status without a body is an error`(status: Int) throws {
        #expect(try decision(status, []) == .reject(.emptyBody))
        #expect(try decision(200, [("Content-Length", "0")]) == .reject(.emptyBody))
    }

    @Test(arguments: [206, 304])
    func `an unsolicited response is a protocol error`(status: Int) throws {
        guard case .reject(.unexpectedResponse) = try decision(status, [("Content-Type", "image/png")]) else {
            Issue.record("accepted")
            return
        }
    }

    @Test(arguments: [207, 208, 300, 305, 306, 400, 401, 403, 405, 429, 451, 500, 502, 503, 599])
    func `any other status is rejected, even with a valid image`(status: Int) throws {
        #expect(try decision(status, [("Content-Type", "image/png")]) == .reject(.status(status)))
    }

    @Test(arguments: [404, 410])
    func `a missing source has its own error`(status: Int) throws {
        #expect(try decision(status, [("Content-Type", "image/png")]) == .reject(.notFound(status)))
    }

    @Test func `an origin's expected statuses are the only successes, and errors among them need an image`() throws {
        let image = [("Content-Type", "image/png")]
        for status in [200, 404, 410, 503] { #expect(try decision(status, image, [200, 404, 410, 503]) == .accept) }
        #expect(try decision(201, image, [200]) == .reject(.unexpectedResponse("status 201")))
        #expect(try decision(404, [], [404]) == .reject(.notFound(404)))
        #expect(try decision(404, [("Content-Type", "text/plain")], [404]) == .reject(.notFound(404)))
        #expect(try decision(500, [("Content-Type", "text/html")], [500]) == .reject(.status(500)))
        #expect(try decision(302, [("Location", "/b")], [200]) == .redirect("/b"))
        #expect(try decision(207, image, [207]) == .accept)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect without Location is a protocol error`(status: Int) throws {
        #expect(try decision(status, [("Location", "/b\u{c3}\u{bc}")]) == .redirect("/bü"))
        guard case .reject(.unexpectedResponse) = try decision(status, []) else {
            Issue.record("accepted")
            return
        }
    }

    @Test(arguments: [
        "image/png", "IMAGE/PNG; charset=x", "image/jpg", "image/pjpeg", "image/x-ms-bmp", "application/octet-stream",
        "binary/octet-stream", "", "text/plain; charset=utf-8", "text/xml", "application/xml", "image/svg+xml",
    ])
    func `an image's media type, or an unspecific one, is accepted`(type: String) throws {
        #expect(try decision(200, [("Content-Type", type)]) == .accept)
        #expect(try decision(200, []) == .accept)
    }

    @Test(arguments: ["text/html", "text/css", "application/json", "video/mp4", "nonsense"])
    func `any other media type is rejected`(type: String) throws {
        #expect(try decision(200, [("Content-Type", type)]) == .reject(.notAnImage(type)))
    }

    @Test func `an announced length over the limit is rejected before the body`() throws {
        #expect(try decision(200, [("Content-Length", "1000")]) == .accept)
        #expect(try decision(200, [("Content-Length", "1001")]) == .reject(.tooLarge))
    }

    @Test(arguments: ["identity", "", "utf-8", "aws-chunked", "image/png, none", "gzip", "br, gzip", "x-gzip,utf-8"])
    func `content codings are accepted, and unknown names too`(coding: String) throws {
        #expect(try decision(200, [("Content-Encoding", coding)]) == .accept)
    }

    @Test func `stacked codings are limited`() throws {
        guard
            case .reject(.undecodable) = try decision(
                200, [("Content-Encoding", "gzip, br"), ("Content-Encoding", "br")])
        else {
            Issue.record("accepted")
            return
        }
    }

    @Test func `a 206 with the whole range is a 200`() throws {
        func status(_ range: String, _ length: String? = "100") throws -> Int {
            try head(206, [("Content-Range", range)] + (length.map { [("Content-Length", $0)] } ?? [])).status
        }
        #expect(try status("bytes 0-99/100") == 200 && status("bytes 0-99/100", nil) == 200)
        #expect(try head(206, [("Content-Range", "bytes 0-99/100")]).contentLength == 100)
        for range in ["bytes 0-98/100", "bytes 1-99/100", "bytes 0-99/*", "bytes 0-98/99", "bytes */100", "0-99/100"] {
            #expect(try status(range) == 206, "\(range)")
        }
    }

    @Test(arguments: [("\"a\"", "\"a\""), ("W/\"a\"", nil), ("a", nil), ("\"\"", nil)])
    func `only a strong entity tag is a validator`(tag: String, validator: String?) throws {
        #expect(try head(200, [("ETag", tag)]).strongETag == validator)
        #expect(try head(200, [("ETag", tag), ("ETag", tag)]).strongETag == nil)
    }
}

private func head(_ status: Int, _ fields: [(String, String)]) throws -> ResponseHead {
    let fields = try fields.map { HTTPField(name: try #require(HTTPField.Name($0.0)), value: $0.1) }
    return try ResponseHead(status: status, fields: HTTPFields(fields))
}

private func decision(
    _ status: Int, _ fields: [(String, String)], _ successes: Set<Int>? = nil
) throws -> ResponseHead.Decision {
    try head(status, fields).decision(maximumBytes: 1000, successes: successes)
}
