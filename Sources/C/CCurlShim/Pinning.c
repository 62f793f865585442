#include "CCurlShim.h"

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

enum { digest_length = 32 };

struct CCurlShim_pins {
    int are_public_keys;
    size_t count;
    unsigned char digests[];
};

CCurlShim_pins *CCurlShim_pins_create(int are_public_keys, const unsigned char *digests, size_t count)
{
    CCurlShim_pins *pins = malloc(sizeof *pins + count * digest_length);
    if (!pins) return 0;
    pins->are_public_keys = are_public_keys;
    pins->count = count;
    if (count > 0) memcpy(pins->digests, digests, count * digest_length);
    return pins;
}

void CCurlShim_pins_free(CCurlShim_pins *pins)
{
    free(pins);
}

static int digest_of(const X509 *certificate, int is_public_key, unsigned char digest[EVP_MAX_MD_SIZE])
{
    unsigned char *bytes = 0;
    int length = is_public_key ? i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &bytes)
                               : i2d_X509(certificate, &bytes);
    if (length <= 0) return 0;
    int is_done = EVP_Digest(bytes, (size_t) length, digest, 0, EVP_sha256(), 0);
    OPENSSL_free(bytes);
    return is_done;
}

static int is_pinned(const CCurlShim_pins *pins, const X509 *certificate)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    if (!digest_of(certificate, pins->are_public_keys, digest)) return 0;
    for (size_t i = 0; i < pins->count; i++) {
        if (memcmp(pins->digests + i * digest_length, digest, digest_length) == 0) return 1;
    }
    return 0;
}

// Checks the verified chain, not the sent one: any server can also send a foreign certificate.
static int verify(X509_STORE_CTX *store, void *context)
{
    int is_valid = X509_verify_cert(store);
    if (is_valid <= 0) return is_valid;
    STACK_OF(X509) *chain = X509_STORE_CTX_get0_chain(store);
    for (int i = 0; i < sk_X509_num(chain); i++) {
        if (is_pinned(context, sk_X509_value(chain, i))) return 1;
    }
    X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
}

static CURLcode require_pins(CURL *easy, void *ssl_context, void *context)
{
    (void) easy;
    SSL_CTX_set_cert_verify_callback(ssl_context, verify, context);
    return CURLE_OK;
}

CURLcode CCurlShim_set_pins(CURL *easy, CCurlShim_pins *pins)
{
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, require_pins);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, pins);
    if (code == CURLE_OK) code = curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    return code;
}
