#include "CCurlShim.h"

#include <errno.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

CURLcode CCurlShim_set_long(CURL *easy, CURLoption option, long value)
{
    return curl_easy_setopt(easy, option, value);
}

CURLcode CCurlShim_set_string(CURL *easy, CURLoption option, const char *value)
{
    return curl_easy_setopt(easy, option, value);
}

CURLcode CCurlShim_set_pointer(CURL *easy, CURLoption option, void *value)
{
    return curl_easy_setopt(easy, option, value);
}

CURLcode CCurlShim_set_list(CURL *easy, CURLoption option, struct curl_slist *value)
{
    return curl_easy_setopt(easy, option, value);
}

CURLcode CCurlShim_set_body_callback(CURL *easy, CCurlShim_data_callback body, void *context)
{
    CURLcode code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_WRITEDATA, context) : code;
}

CURLcode CCurlShim_set_callbacks(
    CURL *easy, CCurlShim_data_callback header, CCurlShim_data_callback body, CCurlShim_socket_callback socket,
    CCurlShim_request_callback request, void *context)
{
    CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
    if (code == CURLE_OK) code = CCurlShim_set_body_callback(easy, body, context);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, socket);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, request);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_PRIVATE, context);
    return code;
}

long CCurlShim_get_long(CURL *easy, CURLINFO info)
{
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

long long CCurlShim_get_offset(CURL *easy, CURLINFO info)
{
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

void *CCurlShim_get_private(CURL *easy)
{
    char *value = 0;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : 0;
}

CURLMcode CCurlShim_multi_set_long(CURLM *multi, CURLMoption option, long value)
{
    return curl_multi_setopt(multi, option, value);
}

CURL *CCurlShim_next_finished(CURLM *multi, CURLcode *result)
{
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return 0;
}

CURLSH *CCurlShim_share_create(void)
{
    CURLSH *share = curl_share_init();
    if (!share) return 0;
    if (curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT) == CURLSHE_OK) return share;
    curl_share_cleanup(share);
    return 0;
}

const struct sockaddr *CCurlShim_socket_address(const struct curl_sockaddr *address)
{
    return &address->addr;
}

int CCurlShim_local_port(curl_socket_t socket)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {0};
    socklen_t length = sizeof address;
    if (getsockname(socket, &address.any, &length) != 0) return 0;
    return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

int CCurlShim_is_quiet(CURL *easy, curl_socket_t socket)
{
    char byte;
    struct curl_tlssessioninfo *tls = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &tls) != CURLE_OK || !tls) return 0;
    // libcurl reads no more of a record than the rest of a body.
    if (tls->internals && (tls->backend != CURLSSLBACKEND_OPENSSL || SSL_has_pending(tls->internals))) return 0;
    return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

int CCurlShim_stream_socket_type(void)
{
    return SOCK_STREAM;
}
