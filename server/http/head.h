// The head of a request, checked line by line as it arrives and strictly, because what two readers take for different
// requests is how requests are smuggled: no bare line ends, no folded lines, no space before a colon, one length at
// most.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/server.h"

namespace ingot::http {

class HeadCheck {
 public:
  // Both must outlive it.
  HeadCheck(const Limits& limits, Request& request) : limits_(limits), request_(request) {}

  // The next line, without its end: the request line, which is written to the request, then headers.
  std::optional<Refusal> take_line(std::string_view line);
  // The beginning of a line whose end has not come.
  std::optional<Refusal> take_part(std::string_view part) const;
  // The empty line came: do the headers agree with each other?
  std::optional<Refusal> end() const;

  bool has_request_line() const { return has_request_line_; }
  bool is_version_1_0() const { return is_version_1_0_; }
  bool is_chunked() const { return transfer_encodings_ != 0; }
  bool expects_continue() const { return expects_continue_ && !is_version_1_0_; }
  std::uint64_t content_length() const { return content_length_.value_or(0); }

 private:
  std::optional<Refusal> take_request_line(std::string_view line);
  std::optional<Refusal> take_header(std::string_view line);
  std::optional<Refusal> take_known_header(std::string_view name, std::string_view value);

  const Limits& limits_;
  Request& request_;
  std::size_t headers_ = 0;
  std::optional<std::uint64_t> content_length_;
  int transfer_encodings_ = 0;
  int hosts_ = 0;
  bool has_request_line_ = false;
  bool is_version_1_0_ = false;
  bool expects_continue_ = false;
};

}  // namespace ingot::http
