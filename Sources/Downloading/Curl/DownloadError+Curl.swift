import CCurl
import CCurlShim

extension DownloadError {
    enum Stage: CaseIterable {
        /// No request was sent.
        case connecting
        /// The request was sent, but no complete header has arrived.
        case waiting
        case receiving
    }

    /// After the request was sent, treats every failure as an invalid response.
    ///
    /// libcurl reports "out of memory" if a header line exceeds its buffer.
    init(_ code: CURLcode, at stage: Stage) {
        let text = unsafe String(cString: curl_easy_strerror(code))
        self =
            switch code {
            case CURLE_OPERATION_TIMEDOUT: .timedOut
            case CURLE_FILESIZE_EXCEEDED: .tooLarge
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_GOT_NOTHING:
                .unreachable(text)
            case CURLE_RECV_ERROR, CURLE_SEND_ERROR:
                stage == .receiving ? .protocolError(text) : .unreachable(text)
            case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM,
                CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE,
                CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_NOTFOUND,
                CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED, CURLE_SSL_CLIENTCERT:
                .tls(text)
            case CURLE_FAILED_INIT, CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN, CURLE_OUT_OF_MEMORY,
                CURLE_ABORTED_BY_CALLBACK, CURLE_BAD_FUNCTION_ARGUMENT,
                CURLE_INTERFACE_FAILED, CURLE_UNKNOWN_OPTION, CURLE_SETOPT_OPTION_SYNTAX, CURLE_AGAIN,
                CURLE_NO_CONNECTION_AVAILABLE, CURLE_RECURSIVE_API_CALL, CURLE_UNRECOVERABLE_POLL:
                stage == .connecting ? .internal(text) : .protocolError(text)
            default:
                // Malformed responses, HTTP/0.9, malformed chunks and truncated bodies.
                .protocolError(text)
            }
    }
}
