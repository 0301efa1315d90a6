#include "CTLSTestShims.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

static int add(X509 *certificate, X509 *issuer, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    int done = extension && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return done;
}

static int add_facts(X509 *certificate, X509 *issuer, const tls_test_certificate *wanted) {
    uint64_t serial = 0;
    RAND_bytes((uint8_t *)&serial, 7);
    X509_NAME *name = X509_get_subject_name(certificate);
    return X509_set_version(certificate, X509_VERSION_3)
        && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial | 1)
        && X509_NAME_add_entry_by_txt(
            name, "CN", MBSTRING_UTF8, (const unsigned char *)wanted->common_name, -1, -1, 0)
        && X509_set_issuer_name(certificate, X509_get_subject_name(issuer))
        && X509_gmtime_adj(X509_getm_notBefore(certificate), wanted->starts)
        && X509_gmtime_adj(X509_getm_notAfter(certificate), wanted->ends)
        && add(certificate, issuer, NID_basic_constraints,
               wanted->is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE")
        && (!wanted->names || add(certificate, issuer, NID_subject_alt_name, wanted->names))
        && (!wanted->must_staple || add(certificate, issuer, NID_tlsfeature, "status_request"));
}

static char *text_of(BIO *text) {
    char *bytes = NULL;
    long length = BIO_get_mem_data(text, &bytes);
    char *copy = calloc(1, (size_t)length + 1);
    if (copy) memcpy(copy, bytes, (size_t)length);
    BIO_free(text);
    return copy;
}

static int print(X509 *certificate, EVP_PKEY *key, const char *passphrase, char **texts[2]) {
    BIO *one = BIO_new(BIO_s_mem()), *two = BIO_new(BIO_s_mem());
    int done = PEM_write_bio_X509(one, certificate)
        && PEM_write_bio_PrivateKey(
            two, key, passphrase ? EVP_aes_128_cbc() : NULL, NULL, 0, NULL, (void *)passphrase);
    *texts[0] = text_of(one);
    *texts[1] = text_of(two);
    return done;
}

int tls_test_make(const tls_test_certificate *wanted, char **certificate, char **key) {
    BIO *one = wanted->issuer ? BIO_new_mem_buf(wanted->issuer, -1) : NULL;
    BIO *two = wanted->issuer ? BIO_new_mem_buf(wanted->issuer_key, -1) : NULL;
    X509 *issuer = one ? PEM_read_bio_X509(one, NULL, NULL, NULL) : NULL;
    EVP_PKEY *issuer_key = two ? PEM_read_bio_PrivateKey(two, NULL, NULL, NULL) : NULL;
    EVP_PKEY *made_key =
        wanted->rsa_bits ? EVP_RSA_gen((unsigned int)wanted->rsa_bits) : EVP_EC_gen("P-256");
    X509 *made = X509_new();
    char **texts[2] = {certificate, key};
    int done = made && made_key && X509_set_pubkey(made, made_key)
        && add_facts(made, issuer ? issuer : made, wanted)
        && X509_sign(made, issuer_key ? issuer_key : made_key, EVP_sha256())
        && print(made, made_key, wanted->passphrase, texts);
    X509_free(made);
    EVP_PKEY_free(made_key);
    X509_free(issuer);
    EVP_PKEY_free(issuer_key);
    BIO_free(one);
    BIO_free(two);
    ERR_clear_error();
    return done;
}
