#ifndef CCurlShim_H
#define CCurlShim_H

// Typed entries to libcurl's variadic functions and to the union in its messages, which Swift cannot reach.

#include <curl/curl.h>

/// `curl_easy_setopt` with a number.
CURLcode CCurlShim_set_long(CURL *easy, CURLoption option, long value);

/// `curl_easy_setopt` with a text, which libcurl copies, or null.
CURLcode CCurlShim_set_string(CURL *easy, CURLoption option, const char *value);

/// `curl_easy_setopt` with a pointer that libcurl hands back.
CURLcode CCurlShim_set_pointer(CURL *easy, CURLoption option, void *value);

/// `curl_easy_setopt` with a list, which must live as long as it is set.
CURLcode CCurlShim_set_list(CURL *easy, CURLoption option, struct curl_slist *value);

typedef size_t (*CCurlShim_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef curl_socket_t (*CCurlShim_socket_callback)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*CCurlShim_request_callback)(
    void *context, char *remote_address, char *local_address, int remote_port, int local_port);

/// Sets the four callbacks and the pointer that each of them gets.
CURLcode CCurlShim_set_callbacks(
    CURL *easy, CCurlShim_data_callback header, CCurlShim_data_callback body, CCurlShim_socket_callback socket,
    CCurlShim_request_callback request, void *context);

/// Sets the callback for a body and the pointer that it gets.
CURLcode CCurlShim_set_body_callback(CURL *easy, CCurlShim_data_callback body, void *context);

/// `curl_easy_getinfo` of a number; 0 if it is not known.
long CCurlShim_get_long(CURL *easy, CURLINFO info);

/// `curl_easy_getinfo` of a 64-bit number, such as a time in microseconds; 0 if it is not known.
long long CCurlShim_get_offset(CURL *easy, CURLINFO info);

/// The pointer set with `CURLOPT_PRIVATE`.
void *CCurlShim_get_private(CURL *easy);

/// `curl_multi_setopt` with a number.
CURLMcode CCurlShim_multi_set_long(CURLM *multi, CURLMoption option, long value);

/// Takes the next finished transfer off the queue: its handle and result. Null when there is none.
CURL *CCurlShim_next_finished(CURLM *multi, CURLcode *result);

/// A share handle that keeps connections of its own for the easy handles it is set on. Null without memory.
CURLSH *CCurlShim_share_create(void);

/// Pins: digests of certificates or public keys, and which of the two.
typedef struct CCurlShim_pins CCurlShim_pins;

/// `count` SHA-256 digests of 32 bytes each, copied. Null without memory.
CCurlShim_pins *CCurlShim_pins_create(int are_public_keys, const unsigned char *digests, size_t count);

/// Frees pins that no connection's handshake can ask for any more.
void CCurlShim_pins_free(CCurlShim_pins *pins);

/// Lets a handshake succeed only if a certificate of the verified chain, or its public key, is pinned.
///
/// The ordinary verification comes first, and the host's name is still libcurl's to check. `pins` must live as long as the
/// handle's connections. No TLS session is resumed, because a resumed one verifies nothing.
CURLcode CCurlShim_set_pins(CURL *easy, CCurlShim_pins *pins);

/// The socket address inside libcurl's structure, which is longer than its declared type says.
const struct sockaddr *CCurlShim_socket_address(const struct curl_sockaddr *address);

/// The port of a socket on this machine; 0 if it has none any more.
int CCurlShim_local_port(curl_socket_t socket);

/// Whether nothing waits to be read on the connection of a handle, which has this socket: neither bytes, be it within TLS,
/// nor its end.
int CCurlShim_is_quiet(CURL *easy, curl_socket_t socket);

/// `SOCK_STREAM`, which Swift sees or not depending on which C module first included its header.
int CCurlShim_stream_socket_type(void);

#endif
