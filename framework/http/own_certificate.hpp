#pragma once
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace hone::http {

/// For tests: a certificate that signed itself, with its key.
struct OwnCertificate {
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{EVP_EC_gen("P-256"), EVP_PKEY_free};
  std::unique_ptr<X509, decltype(&X509_free)> certificate{X509_new(), X509_free};

  /// `names` such as "IP:127.0.0.1" or "DNS:localhost".
  explicit OwnCertificate(const std::string& names) {
    X509* x = certificate.get();
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x), 3600);
    X509_set_pubkey(x, key.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("hone test"), -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    X509_EXTENSION* also =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
    X509_add_ext(x, also, -1);
    X509_EXTENSION_free(also);
    if (X509_sign(x, key.get(), EVP_sha256()) == 0) throw std::runtime_error("no certificate");
  }

  /// As a file for SSL_CERT_FILE.
  void write(const std::filesystem::path& file) const {
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new_file(file.c_str(), "w"), BIO_free);
    if (!out || PEM_write_bio_X509(out.get(), certificate.get()) != 1)
      throw std::runtime_error("cannot write " + file.string());
  }
};

}  // namespace hone::http
