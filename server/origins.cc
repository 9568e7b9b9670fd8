#include "server/origins.h"

#include <algorithm>
#include <array>

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

}  // namespace

bool Origins::is_own_host(const http::Request& request) const {
  const std::string* host = request.header("Host");
  // No browser reaches a Unix socket.
  if (!request.is_to_loopback || request.peer == http::unix_peer || host == nullptr) return true;
  const std::string name = lower(name_without_port(*host));
  constexpr std::array<std::string_view, 2> own = {"localhost", "::1"};
  // All of 127.0.0.0/8 is this machine: digits and dots, so that no name of DNS begins alike.
  const bool is_loopback = name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string::npos;
  return is_loopback || name == host_ || name.ends_with(".localhost") || std::ranges::count(own, name) > 0;
}

bool Origins::is_allowed(const http::Request& request) const {
  const std::string* origin = request.header("Origin");
  if (origin == nullptr || is_own_page(request, *origin)) return true;
  return std::ranges::any_of(allowed_, [&](const std::string& one) { return one == "*" || one == *origin; });
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
