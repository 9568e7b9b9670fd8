#include "server/http/head.h"

#include <algorithm>
#include <charconv>

#include "server/http/letters.h"
#include "server/http/percent.h"

namespace ingot::http {
namespace {

constexpr std::size_t method_bytes = 32;
// What a request line has beside its target: the method, two spaces and the version.
constexpr std::size_t beside_target_bytes = method_bytes + 10;
constexpr std::size_t digits_of_length = 19;  // so that no sum of it overflows

constexpr const char* no_method = "expected a method of at most 32 token characters at the begin of the request";

Refusal malformed(std::string reason) { return {400, std::move(reason)}; }

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool is_token(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_token_letter); }

bool is_method(std::string_view text) { return text.size() <= method_bytes && is_token(text); }

bool is_visible(char letter) { return letter > 0x20 && letter < 0x7f; }

bool is_in_value(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
}

bool is_in_host(char letter) {
  return is_visible(letter) && std::string_view("/?#@\\\"<>").find(letter) == std::string_view::npos;
}

std::string_view without_spaces(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// As origin-form, absolute-form or an asterisk (of OPTIONS): "/a%20b?c#d" and "http://host/a%20b?c" are the path "/a b"
// and the query "c".
std::optional<Refusal> read_target(std::string_view text, Request& request) {
  if (text == "*" && request.method == "OPTIONS") {
    request.path = "*";
    return {};
  }
  bool is_root = false;  // an empty path behind a host
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!is_same_name(text.substr(0, scheme.size()), scheme)) continue;
    text.remove_prefix(scheme.size());
    const std::size_t authority = std::min(text.find_first_of("/?#"), text.size());
    if (authority == 0) return malformed("expected a host in the target, found none");
    text.remove_prefix(authority);
    is_root = text.empty() || text[0] != '/';
    break;
  }
  if (!is_root && (text.empty() || text[0] != '/')) {
    return malformed("expected a target that begins with / or http://");
  }
  text = text.substr(0, text.find('#'));
  const std::size_t question = text.find('?');
  std::optional<std::string> path = percent_decoded(is_root ? "/" : text.substr(0, question));
  if (!path) return malformed("expected two hexadecimal digits after each % of the path");
  if (path->find('\0') != std::string::npos) return malformed("expected a path without %00");
  request.path = std::move(*path);
  if (question != std::string_view::npos) request.query = text.substr(question + 1);
  return {};
}

}  // namespace

std::optional<Refusal> HeadCheck::take_line(std::string_view line) {
  return has_request_line_ ? take_header(line) : take_request_line(line);
}

std::optional<Refusal> HeadCheck::take_part(std::string_view part) const {
  if (has_request_line_) return {};
  const std::size_t space = part.find(' ');
  if (!part.empty() && !is_method(part.substr(0, space))) return malformed(no_method);
  if (part.size() <= limits_.target_bytes + beside_target_bytes) return {};
  return Refusal{414, "expected a target of at most " + std::to_string(limits_.target_bytes) + " bytes, found more"};
}

std::optional<Refusal> HeadCheck::take_request_line(std::string_view line) {
  has_request_line_ = true;
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return malformed("expected a request line of method, target and version");
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_method(method)) return malformed(no_method);
  if (target.size() > limits_.target_bytes) {
    return Refusal{414, "expected a target of at most " + std::to_string(limits_.target_bytes) + " bytes, found " +
                            std::to_string(target.size())};
  }
  if (target.empty() || !std::ranges::all_of(target, is_visible)) {
    return malformed("expected a target of visible ASCII characters between two single spaces");
  }
  if (version.size() != 8 || !version.starts_with("HTTP/") || !is_digit(version[5]) || version[6] != '.' ||
      !is_digit(version[7])) {
    return malformed("expected the version HTTP/1.1 or HTTP/1.0 at the end of the request line");
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return Refusal{505, "expected HTTP/1.1 or HTTP/1.0, found " + std::string(version)};
  }
  is_version_1_0_ = version == "HTTP/1.0";
  request_.method = method;
  return read_target(target, request_);
}

std::optional<Refusal> HeadCheck::take_header(std::string_view line) {
  if (++headers_ > limits_.headers) {
    return Refusal{431, "expected at most " + std::to_string(limits_.headers) + " headers, found more"};
  }
  if (line[0] == ' ' || line[0] == '\t') return malformed("expected headers of one line each, found a folded one");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return malformed("expected a colon in each header line");
  const std::string_view name = line.substr(0, colon);
  if (!is_token(name)) return malformed("expected a header name of token characters, directly before its colon");
  const std::string_view value = without_spaces(line.substr(colon + 1));
  if (!std::ranges::all_of(value, is_in_value)) {
    return malformed("expected no control characters in the header " + std::string(name));
  }
  return take_known_header(name, value);
}

std::optional<Refusal> HeadCheck::take_known_header(std::string_view name, std::string_view value) {
  if (is_same_name(name, "Host")) {
    if (++hosts_ > 1) return malformed("expected one Host header, found two");
    if (!std::ranges::all_of(value, is_in_host)) return malformed("expected a host and port in the Host header");
  } else if (is_same_name(name, "Content-Length")) {
    if (content_length_) return malformed("expected one Content-Length header, found two");
    if (value.empty() || value.size() > digits_of_length || !std::ranges::all_of(value, is_digit)) {
      return malformed("expected a Content-Length of 1 to 19 digits");
    }
    content_length_ = 0;
    std::from_chars(value.data(), value.data() + value.size(), *content_length_);
  } else if (is_same_name(name, "Transfer-Encoding")) {
    if (++transfer_encodings_ > 1) return malformed("expected one Transfer-Encoding header, found two");
    if (!is_same_name(value, "chunked")) return malformed("expected the Transfer-Encoding chunked and no other");
  } else if (is_same_name(name, "Expect")) {
    if (!is_same_name(value, "100-continue")) return Refusal{417, "expected 100-continue in the Expect header"};
    expects_continue_ = true;
  }
  return {};
}

std::optional<Refusal> HeadCheck::end() const {
  if (hosts_ == 0 && !is_version_1_0_) return malformed("expected a Host header, found none");
  if (transfer_encodings_ != 0 && content_length_) {
    return malformed("expected Content-Length or Transfer-Encoding, found both");
  }
  if (transfer_encodings_ != 0 && is_version_1_0_) return malformed("expected no Transfer-Encoding in HTTP/1.0");
  if (content_length() > limits_.body_bytes) {
    return Refusal{413, "expected a body of at most " + std::to_string(limits_.body_bytes) + " bytes, found " +
                            std::to_string(content_length())};
  }
  return {};
}

}  // namespace ingot::http
