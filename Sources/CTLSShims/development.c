#include "CTLSShims.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

static int add_extension(X509 *certificate, X509 *issuer, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    int done = extension && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return done;
}

static int add_serial(X509 *certificate) {
    uint8_t bytes[16];
    if (RAND_bytes(bytes, sizeof bytes) != 1) return 0;
    bytes[0] &= 0x7f;  // positive (RFC 5280 section 4.1.2.2)
    BIGNUM *number = BN_bin2bn(bytes, sizeof bytes, NULL);
    int done = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
    BN_free(number);
    return done;
}

static int add_name(X509 *certificate, const char *common_name) {
    X509_NAME *name = X509_get_subject_name(certificate);
    return X509_NAME_add_entry_by_txt(
        name, "CN", MBSTRING_UTF8, (const unsigned char *)common_name, -1, -1, 0);
}

static int add_extensions(X509 *certificate, X509 *issuer, const http_tls_wish *wish) {
    int done = add_extension(certificate, issuer, NID_subject_key_identifier, "hash")
        && add_extension(certificate, issuer, NID_authority_key_identifier, "keyid:always");
    if (!done) return 0;
    if (wish->is_authority) {
        return add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE,pathlen:0")
            && add_extension(certificate, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
    }
    return add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE")
        && add_extension(certificate, issuer, NID_key_usage, "critical,digitalSignature")
        && add_extension(certificate, issuer, NID_ext_key_usage, "serverAuth,clientAuth")
        && (!wish->names || add_extension(certificate, issuer, NID_subject_alt_name, wish->names))
        && (!wish->must_staple || add_extension(certificate, issuer, NID_tlsfeature, "status_request"));
}

static char *text_of(BIO *text) {
    char *bytes = NULL;
    long length = BIO_get_mem_data(text, &bytes);
    char *copy = length > 0 ? malloc((size_t)length + 1) : NULL;
    if (copy) {
        memcpy(copy, bytes, (size_t)length);
        copy[length] = 0;
    }
    return copy;
}

static int print_pair(
    X509 *certificate, EVP_PKEY *key, const char *passphrase, char **certificate_text, char **key_text
) {
    BIO *one = BIO_new(BIO_s_mem()), *two = BIO_new(BIO_s_mem());
    const EVP_CIPHER *cipher = passphrase ? EVP_aes_128_cbc() : NULL;
    int done = one && two && PEM_write_bio_X509(one, certificate)
        && PEM_write_bio_PrivateKey(two, key, cipher, NULL, 0, NULL, (void *)passphrase);
    *certificate_text = done ? text_of(one) : NULL;
    *key_text = done ? text_of(two) : NULL;
    BIO_free(one);
    BIO_free(two);
    return *certificate_text && *key_text;
}

int http_tls_make_certificate(const http_tls_wish *wish, char **certificate_text, char **key_text) {
    BIO *issuer_text = wish->issuer ? BIO_new_mem_buf(wish->issuer, -1) : NULL;
    BIO *issuer_key_text = wish->issuer ? BIO_new_mem_buf(wish->issuer_key, -1) : NULL;
    X509 *issuer = issuer_text ? PEM_read_bio_X509(issuer_text, NULL, NULL, NULL) : NULL;
    EVP_PKEY *issuer_key =
        issuer_key_text ? PEM_read_bio_PrivateKey(issuer_key_text, NULL, NULL, NULL) : NULL;
    EVP_PKEY *key = wish->rsa_bits ? EVP_RSA_gen((unsigned int)wish->rsa_bits) : EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    int done = key && certificate && (!wish->issuer || (issuer && issuer_key))
        && X509_set_version(certificate, X509_VERSION_3) && add_serial(certificate)
        && add_name(certificate, wish->common_name) && X509_set_pubkey(certificate, key)
        && X509_gmtime_adj(X509_getm_notBefore(certificate), wish->starts)
        && X509_gmtime_adj(X509_getm_notAfter(certificate), wish->ends)
        && X509_set_issuer_name(certificate, X509_get_subject_name(issuer ? issuer : certificate))
        && add_extensions(certificate, issuer ? issuer : certificate, wish)
        && X509_sign(certificate, issuer_key ? issuer_key : key, EVP_sha256())
        && print_pair(certificate, key, wish->passphrase, certificate_text, key_text);
    X509_free(certificate);
    EVP_PKEY_free(key);
    X509_free(issuer);
    EVP_PKEY_free(issuer_key);
    BIO_free(issuer_text);
    BIO_free(issuer_key_text);
    ERR_clear_error();
    return done;
}
