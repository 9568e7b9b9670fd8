// AnswerReader: an HTTP answer in whatever pieces it comes, down to the bytes of its body. It reads one answer: every
// request has a connection of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ingot::load {

class AnswerReader {
 public:
  // Takes what came from the socket next; what it holds of the body is appended to `body`.
  Result<void> take(std::string_view bytes, std::string& body);
  // The server closed the connection: the end of an answer that says no length, an error in any other.
  Result<void> take_end();

  int status() const { return status_; }  // 0 before its line
  bool is_complete() const { return part_ == Part::nothing; }

 private:
  // What comes next. The first five are lines.
  enum class Part : std::uint8_t {
    status_line,
    headers,
    chunk_size,
    chunk_end,
    trailers,
    chunk,
    body_by_length,
    body_by_close,
    nothing,
  };

  Result<void> take_line(std::string_view line);
  Result<void> take_header(std::string_view line);
  Part part_of_body() const;

  Part part_ = Part::status_line;
  int status_ = 0;
  bool is_chunked_ = false;
  std::optional<std::int64_t> length_;
  std::int64_t bytes_left_ = 0;  // of the body, or of a chunk
  std::string line_;             // as far as it came
};

}  // namespace ingot::load
