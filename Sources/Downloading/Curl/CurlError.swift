import CCurl
import CCurlShim

extension DownloadError {
    /// What libcurl's result means; `hasHead` tells a body cut short from an answer that never came.
    init(_ code: CURLcode, hasHead: Bool) {
        let text = unsafe String(cString: curl_easy_strerror(code))
        switch code {
        case CURLE_OPERATION_TIMEDOUT:
            self = .timedOut
        case CURLE_FILESIZE_EXCEEDED:
            self = .tooLarge
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_GOT_NOTHING:
            self = .unreachable(text)
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            self = hasHead ? .protocolError(text) : .unreachable(text)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_USE_SSL_FAILED, CURLE_SSL_CLIENTCERT:
            self = .tls(text)
        case CURLE_OUT_OF_MEMORY, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_FAILED_INIT, CURLE_UNKNOWN_OPTION,
            CURLE_URL_MALFORMAT:
            self = .internal(text)
        default:
            // Weird replies, HTTP/0.9, bad chunks, bodies cut short.
            self = .protocolError(text)
        }
    }
}
