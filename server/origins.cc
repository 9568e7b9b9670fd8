#include "server/origins.h"

#include <algorithm>

#include "server/http/letters.h"

namespace ingot {
namespace {

// "[::1]:8080" and "localhost:8080" without the port.
std::string_view name_without_port(std::string_view host) {
  const std::size_t bracket = host.find(']');
  const std::size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  std::string_view name = host.substr(0, colon);
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  return name;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), http::lower);
  return result;
}

bool is_own_page(const http::Request& request, std::string_view origin) {
  const std::string* host = request.header("Host");
  if (host == nullptr) return false;
  return origin == "http://" + *host || origin == "https://" + *host;
}

// Names that no other machine has. All of 127.0.0.0/8 is this one: digits and dots, so that no name of DNS begins
// alike.
bool is_loopback_name(std::string_view name) {
  const bool is_number = name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string_view::npos;
  return is_number || name == "localhost" || name == "::1" || name.ends_with(".localhost");
}

bool is_page_of_this_machine(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return is_loopback_name(lower(name_without_port(origin.substr(scheme.size()))));
  }
  return false;
}

}  // namespace

bool Origins::is_own_host(const http::Request& request) const {
  const std::string* host = request.header("Host");
  // No browser reaches a Unix socket.
  if (!request.is_to_loopback || request.peer == http::unix_peer || host == nullptr) return true;
  const std::string name = lower(name_without_port(*host));
  return is_loopback_name(name) || name == host_;
}

bool Origins::is_allowed(const http::Request& request) const {
  const std::string* origin = request.header("Origin");
  if (origin == nullptr || is_own_page(request, *origin)) return true;
  return std::ranges::any_of(allowed_, [&](const std::string& one) {
    return one == "*" || one == *origin || (one == "localhost" && is_page_of_this_machine(*origin));
  });
}

std::vector<http::Header> Origins::headers(const http::Request& request) const {
  const std::string* origin = request.header("Origin");
  if (origin == nullptr || allowed_.empty() || !is_allowed(request)) return {};
  return {{"Access-Control-Allow-Origin", *origin},
          {"Access-Control-Allow-Headers", "Authorization, Content-Type"},
          {"Access-Control-Allow-Methods", "GET, POST, OPTIONS"},
          {"Access-Control-Max-Age", "600"},
          {"Vary", "Origin"}};
}

}  // namespace ingot
