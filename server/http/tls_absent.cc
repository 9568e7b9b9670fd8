// In place of tls.cc, where there is no OpenSSL to link.
#include "server/http/tls.h"

namespace ingot::http {

Result<std::shared_ptr<Tls>> Tls::create(const std::string&, const std::string&) {
  return Error::of(
      ErrorCode::unsupported,
      "TLS: expected a program that was built with OpenSSL, found one without: put a proxy in front of it");
}

}  // namespace ingot::http
