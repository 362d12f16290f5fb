#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace troupe::test {

/// An authority that signs certificates for tests, as PEM files in a folder.
class test_authority {
public:
  struct files {
    std::string certificate;
    std::string key;
  };

  /// Signed by itself, or by the one `above` it.
  test_authority(std::filesystem::path folder, std::string name,
                 const test_authority* above = nullptr)
      : folder_{std::move(folder)}, name_{std::move(name)},
        key_{EVP_EC_gen("P-256"), EVP_PKEY_free}, self_{X509_new(), X509_free} {
    const auto& signer = above ? *above : *this;
    fill(self_.get(), key_.get(), name_, {});
    X509_set_issuer_name(self_.get(),
                         X509_get_subject_name(signer.self_.get()));
    extend(self_.get(), NID_basic_constraints, "critical,CA:TRUE");
    X509_sign(self_.get(), signer.key_.get(), EVP_sha256());
    write_certificate(self_.get(), file());
  }

  std::string file() const { return path(name_ + ".pem"); }

  /// Seconds from now.
  struct validity {
    long from = -7'200;
    long to = 3'600;
  };

  /// `names` as OpenSSL spells them: "DNS:localhost,IP:127.0.0.1"; none: only
  /// the common name, which is `who`.
  files sign(const std::string& who, const std::string& names) const {
    return sign(who, names, validity{});
  }
  files sign(const std::string& who, const std::string& names,
             validity when) const {
    key_ptr key{EVP_EC_gen("P-256"), EVP_PKEY_free};
    x509_ptr leaf{X509_new(), X509_free};
    fill(leaf.get(), key.get(), who, when);
    X509_set_issuer_name(leaf.get(), X509_get_subject_name(self_.get()));
    if (!names.empty())
      extend(leaf.get(), NID_subject_alt_name, names);
    X509_sign(leaf.get(), key_.get(), EVP_sha256());
    files made{path(who + ".pem"), path(who + ".key")};
    write_certificate(leaf.get(), made.certificate);
    auto* out = std::fopen(made.key.c_str(), "w");
    PEM_write_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(out);
    return made;
  }

private:
  using key_ptr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
  using x509_ptr = std::unique_ptr<X509, decltype(&X509_free)>;

  std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

  static void fill(X509* x, EVP_PKEY* key, const std::string& name,
                   validity when) {
    static long serial = 1;
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), serial++);
    X509_gmtime_adj(X509_getm_notBefore(x), when.from);
    X509_gmtime_adj(X509_getm_notAfter(x), when.to);
    X509_set_pubkey(x, key);
    X509_NAME_add_entry_by_txt(
      X509_get_subject_name(x), "CN", MBSTRING_ASC,
      reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  }

  static void extend(X509* x, int what, const std::string& value) {
    auto* extension
      = X509V3_EXT_conf_nid(nullptr, nullptr, what, value.c_str());
    X509_add_ext(x, extension, -1);
    X509_EXTENSION_free(extension);
  }

  static void write_certificate(X509* x, const std::string& file) {
    auto* out = std::fopen(file.c_str(), "w");
    PEM_write_X509(out, x);
    std::fclose(out);
  }

  const std::filesystem::path folder_;
  const std::string name_;
  key_ptr key_;
  x509_ptr self_;
};

} // namespace troupe::test
