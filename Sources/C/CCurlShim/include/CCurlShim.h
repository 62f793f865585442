#ifndef CCurlShim_H
#define CCurlShim_H

// Typed wrappers for libcurl's variadic functions and for the union in its messages, which Swift cannot access.

#include <ares.h>
#include <curl/curl.h>

/// `curl_easy_setopt` with a number.
CURLcode CCurlShim_set_long(CURL *easy, CURLoption option, long value);

/// `curl_easy_setopt` with a text, which libcurl copies, or null.
CURLcode CCurlShim_set_string(CURL *easy, CURLoption option, const char *value);

/// `curl_easy_setopt` with a pointer that libcurl passes back.
CURLcode CCurlShim_set_pointer(CURL *easy, CURLoption option, void *value);

/// `curl_easy_setopt` with a list, which must live as long as it is set.
CURLcode CCurlShim_set_list(CURL *easy, CURLoption option, struct curl_slist *value);

typedef size_t (*CCurlShim_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef curl_socket_t (*CCurlShim_socket_callback)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*CCurlShim_request_callback)(
    void *context, char *remote_address, char *local_address, int remote_port, int local_port);

/// Sets the four callbacks and the pointer passed to each of them.
CURLcode CCurlShim_set_callbacks(
    CURL *easy, CCurlShim_data_callback header, CCurlShim_data_callback body, CCurlShim_socket_callback socket,
    CCurlShim_request_callback request, void *context);

/// Sets the callback for a body and the pointer passed to it.
CURLcode CCurlShim_set_body_callback(CURL *easy, CCurlShim_data_callback body, void *context);

/// `curl_easy_getinfo` of a number; 0 if unknown.
long CCurlShim_get_long(CURL *easy, CURLINFO info);

/// `curl_easy_getinfo` of a 64-bit number, such as a time in microseconds; 0 if unknown.
long long CCurlShim_get_offset(CURL *easy, CURLINFO info);

/// The pointer set with `CURLOPT_PRIVATE`.
void *CCurlShim_get_private(CURL *easy);

/// `curl_multi_setopt` with a number.
CURLMcode CCurlShim_multi_set_long(CURLM *multi, CURLMoption option, long value);

/// Removes the next finished transfer from the queue, and returns its handle and result. Null if there is none.
CURL *CCurlShim_next_finished(CURLM *multi, CURLcode *result);

/// Creates a share handle with a separate connection cache for its easy handles. Null if memory runs out.
CURLSH *CCurlShim_share_create(void);

/// Pins: digests of certificates or of public keys.
typedef struct CCurlShim_pins CCurlShim_pins;

/// Copies `count` SHA-256 digests of 32 bytes each. Null if memory runs out.
CCurlShim_pins *CCurlShim_pins_create(int are_public_keys, const unsigned char *digests, size_t count);

/// Frees pins, which no handshake may use from now on.
void CCurlShim_pins_free(CCurlShim_pins *pins);

/// Makes a handshake fail unless a certificate of the verified chain, or its public key, is pinned.
///
/// The ordinary verification comes first, and libcurl still checks the host name. `pins` must live as long as the
/// handle's connections. TLS sessions are not resumed, because a resumed session verifies nothing.
CURLcode CCurlShim_set_pins(CURL *easy, CCurlShim_pins *pins);

/// `CURLAUTH_DIGEST`, which Swift does not import.
static const long CCurlShim_digest = CURLAUTH_DIGEST;

/// Returns whether the files hold a PEM certificate and its private key, which has no passphrase.
int CCurlShim_is_key_pair(const char *certificate_file, const char *key_file);

/// Returns the socket address in libcurl's structure, which is longer than its declared type.
const struct sockaddr *CCurlShim_socket_address(const struct curl_sockaddr *address);

/// Returns the local port of a socket; 0 if it is no longer bound.
int CCurlShim_local_port(curl_socket_t socket);

/// Returns whether nothing is waiting to be read on a handle's connection with this socket: neither bytes, including
/// within TLS, nor its end.
int CCurlShim_is_quiet(CURL *easy, curl_socket_t socket);

/// Results of c-ares: macros before 1.34, then values of an enumeration.
static const int CCurlShim_no_data = ARES_ENODATA, CCurlShim_not_found = ARES_ENOTFOUND, CCurlShim_bad_name = ARES_EBADNAME,
                 CCurlShim_name_timeout = ARES_ETIMEOUT, CCurlShim_no_memory = ARES_ENOMEM;

/// `SOCK_STREAM`, whose visibility in Swift depends on which C module first included its header.
int CCurlShim_stream_socket_type(void);

#endif
