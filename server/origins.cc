#include "server/origins.h"

#include <arpa/inet.h>

#include <algorithm>

#include "server/http/letters.h"

namespace ingot {
namespace {

// Where the port begins of "[::1]:8080" and "localhost:8080".
std::size_t find_port(std::string_view host) {
  const std::size_t bracket = host.find(']');
  return host.find(':', bracket == std::string_view::npos ? 0 : bracket);
}

std::string_view name_without_port(std::string_view host) {
  std::string_view name = host.substr(0, find_port(host));
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  return name;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), http::lower);
  return result;
}

bool is_address(const std::string& name) {
  in6_addr address;  // has room for either
  return ::inet_pton(AF_INET, name.c_str(), &address) == 1 || ::inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

// Browsers leave out the port that a scheme has anyway, and spell others without zeros in front.
Result<void> check_port(std::string_view origin, std::string_view scheme, std::string_view host) {
  const std::size_t colon = find_port(host);
  if (colon == std::string_view::npos) return {};
  const std::string_view port = host.substr(colon + 1);
  const std::string_view usual = scheme == "https" ? "443" : scheme == "http" ? "80" : "";
  if (port.empty() || port == usual) {
    return Error::of(ErrorCode::invalid_argument, "expected '", origin.substr(0, origin.size() - port.size() - 1),
                     "', as browsers spell it, found '", origin, "'");
  }
  const bool is_number = port.find_first_not_of("0123456789") == std::string_view::npos && port.size() <= 5;
  if (is_number && port.front() != '0') return {};
  return Error::of(ErrorCode::invalid_argument, "expected a port such as 8080 at the end of the origin, found '", port,
                   "' in '", origin, "'");
}

bool is_own_page(const http::Request& request, std::string_view origin) {
  const std::string* host = request.header("Host");
  if (host == nullptr) return false;
  return origin == "http://" + *host || origin == "https://" + *host;
}

// Of any port: who serves one here may ask.
bool is_page_of_this_machine(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!origin.starts_with(scheme)) continue;
    const std::string_view name = name_without_port(origin.substr(scheme.size()));
    return name == "localhost" || name == "127.0.0.1" || name == "::1";
  }
  return false;
}

bool is_list_letter(char letter) { return letter == ',' || letter == ' ' || http::is_token_letter(letter); }

// What clients of OpenAI's and Anthropic's kind send, unless the browser asks about others.
std::string allowed_headers(const http::Request& request) {
  const std::string* asked = request.header("Access-Control-Request-Headers");
  if (asked != nullptr && !asked->empty() && std::ranges::all_of(*asked, is_list_letter)) return *asked;
  return "Authorization, Content-Type, X-Api-Key";
}

}  // namespace

Result<void> check_host_name(const std::string& name) {
  const auto is_in_name = [](char letter) {
    const char small = http::lower(letter);
    return (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9') || small == '-' || small == '.' ||
           small == '_';
  };
  if (!name.empty() && std::ranges::all_of(name, is_in_name)) return {};
  return Error::of(ErrorCode::invalid_argument, "expected a name such as ingot.example.org, without a port, found '",
                   std::string_view(name), "'");
}

Result<void> check_origin(const std::string& origin) {
  if (origin == "*" || origin == "localhost" || origin == "null") return {};
  const std::size_t scheme = origin.find("://");
  const bool has_scheme = scheme != std::string::npos && scheme > 0;
  if (has_scheme && origin.size() > scheme + 3 && origin.find_first_of("/?#@ ,", scheme + 3) == std::string::npos) {
    return check_port(origin, lower(origin.substr(0, scheme)), std::string_view(origin).substr(scheme + 3));
  }
  return Error::of(ErrorCode::invalid_argument,
                   "expected an origin such as https://example.org, without a path or a slash at its end, or localhost "
                   "or *, found '",
                   std::string_view(origin), "'");
}

Origins::Origins(OriginOptions options) : options_(std::move(options)) {
  // Browsers spell both in small letters.
  for (std::string& name : options_.hosts) name = lower(name);
  for (std::string& origin : options_.origins) origin = lower(origin);
}

bool Origins::is_own_host(const http::Request& request) const {
  const std::string* host = request.header("Host");
  // No browser reaches a Unix socket, and each names a host.
  if (request.peer == http::unix_peer || host == nullptr) return true;
  if (options_.has_keys && !request.is_to_loopback) return true;
  const std::string name = lower(name_without_port(*host));
  return is_address(name) || name == "localhost" || name.ends_with(".localhost") ||
         std::ranges::count(options_.hosts, name) > 0;
}

bool Origins::allows(std::string_view origin) const {
  return std::ranges::any_of(options_.origins, [&](const std::string& one) {
    return one == "localhost" ? is_page_of_this_machine(origin) : one == "*" || one == origin;
  });
}

bool Origins::is_allowed(const http::Request& request) const {
  const std::string* origin = request.header("Origin");
  return origin == nullptr || is_own_page(request, *origin) || allows(*origin);
}

bool Origins::is_from_other_site(const http::Request& request) const {
  const std::string* site = request.header("Sec-Fetch-Site");
  return site != nullptr && *site == "cross-site" && request.header("Origin") == nullptr && !allows("*");
}

std::vector<http::Header> Origins::headers(const http::Request& request) const {
  const std::string* origin = request.header("Origin");
  if (origin == nullptr || options_.origins.empty() || !is_allowed(request)) return {};
  std::vector<http::Header> headers = {
      {"Access-Control-Allow-Origin", *origin}, {"Access-Control-Expose-Headers", "Retry-After"}, {"Vary", "Origin"}};
  if (request.method != "OPTIONS") return headers;
  headers.push_back({"Access-Control-Allow-Headers", allowed_headers(request)});
  headers.push_back({"Access-Control-Allow-Methods", "GET, POST, OPTIONS"});
  headers.push_back({"Access-Control-Max-Age", "600"});
  return headers;
}

}  // namespace ingot
