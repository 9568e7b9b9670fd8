#include "bench/serve_vs_llama_server/answer_reader.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace ingot::load {
namespace {

constexpr std::size_t most_line_bytes = 64 << 10;
constexpr std::string_view line_end = "\r\n";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool equal_without_case(std::string_view one, std::string_view other) {
  return std::ranges::equal(
      one, other, [](unsigned char left, unsigned char right) { return std::tolower(left) == std::tolower(right); });
}

Result<std::int64_t> number_of(std::string_view text, int base, std::string_view what) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (code != std::errc() || end != text.data() + text.size() || number < 0) {
    return Error::of(ErrorCode::corrupt, "expected ", what, ", found '", text.substr(0, 40), "'");
  }
  return number;
}

}  // namespace

Result<void> AnswerReader::take(std::string_view bytes, std::string& body) {
  while (!bytes.empty()) {
    switch (part_) {
      case Part::nothing: return Error::of(ErrorCode::corrupt, "expected one answer, found bytes behind it");
      case Part::body_by_close: body.append(bytes); return {};
      case Part::body_by_length:
      case Part::chunk: {
        const std::string_view taken = bytes.substr(0, static_cast<std::size_t>(bytes_left_));
        body.append(taken);
        bytes.remove_prefix(taken.size());
        bytes_left_ -= static_cast<std::int64_t>(taken.size());
        if (bytes_left_ == 0) part_ = part_ == Part::chunk ? Part::chunk_end : Part::nothing;
        break;
      }
      default: {
        const std::size_t end = bytes.find('\n');
        const std::string_view taken = bytes.substr(0, end == bytes.npos ? end : end + 1);
        line_.append(taken);
        bytes.remove_prefix(taken.size());
        if (line_.size() > most_line_bytes) return Error::of(ErrorCode::corrupt, "expected a line's end in 64 KiB");
        if (end == bytes.npos) break;
        if (!line_.ends_with(line_end)) return Error::of(ErrorCode::corrupt, "expected CR and LF at a line's end");
        const Result<void> taken_line = take_line(std::string_view(line_).substr(0, line_.size() - line_end.size()));
        line_.clear();
        if (!taken_line.ok()) return taken_line.error();
      }
    }
  }
  return {};
}

Result<void> AnswerReader::take_end() {
  if (part_ != Part::body_by_close && part_ != Part::nothing) {
    return Error::of(ErrorCode::corrupt, "expected a whole answer, found its connection closed");
  }
  part_ = Part::nothing;
  return {};
}

Result<void> AnswerReader::take_line(std::string_view line) {
  switch (part_) {
    case Part::status_line:
      if (!line.starts_with("HTTP/1.") || line.size() < 12) {
        return Error::of(ErrorCode::corrupt, "expected a status line of HTTP/1, found '", line.substr(0, 40), "'");
      }
      status_ = static_cast<int>(TRY(number_of(line.substr(9, 3), 10, "a status")));
      part_ = Part::headers;
      break;
    case Part::headers:
      if (!line.empty()) return take_header(line);
      part_ = part_of_body();
      bytes_left_ = length_.value_or(0);
      break;
    case Part::chunk_size:
      // What follows a semicolon is an extension.
      bytes_left_ = TRY(number_of(trimmed(line.substr(0, line.find(';'))), 16, "a chunk's size"));
      part_ = bytes_left_ == 0 ? Part::trailers : Part::chunk;
      break;
    case Part::chunk_end:
      if (!line.empty()) return Error::of(ErrorCode::corrupt, "expected a line's end behind a chunk");
      part_ = Part::chunk_size;
      break;
    default:
      if (line.empty()) part_ = Part::nothing;
  }
  return {};
}

Result<void> AnswerReader::take_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return Error::of(ErrorCode::corrupt, "expected a header, found '", line.substr(0, 40), "'");
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (equal_without_case(name, "transfer-encoding")) {
    is_chunked_ = equal_without_case(value, "chunked");
    if (!is_chunked_) return Error::of(ErrorCode::unsupported, "expected chunks, found ", value.substr(0, 40));
  } else if (equal_without_case(name, "content-length")) {
    length_ = TRY(number_of(value, 10, "a length"));
  }
  return {};
}

AnswerReader::Part AnswerReader::part_of_body() const {
  if (status_ / 100 == 1) return Part::status_line;  // 100 Continue: the answer is still to come
  if (is_chunked_) return Part::chunk_size;
  if (!length_) return Part::body_by_close;
  return *length_ == 0 ? Part::nothing : Part::body_by_length;
}

}  // namespace ingot::load
