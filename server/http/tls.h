// TLS 1.3 by OpenSSL: what goes through a descriptor is encrypted. In a program that was built without OpenSSL (for
// another architecture) making one is an error that says so.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "server/http/transport.h"

namespace ingot::http {

class Tls {
 public:
  // PEM files: the certificate with those that vouch for it behind it, and its key, which only its owner may read.
  static Result<std::shared_ptr<Tls>> create(const std::string& certificate, const std::string& private_key);
  virtual ~Tls() = default;

  // For a connection that was accepted; it may outlive this. Null where there is no memory for one more.
  virtual std::shared_ptr<Transport> transport(int descriptor) = 0;
};

}  // namespace ingot::http
