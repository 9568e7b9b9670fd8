// RequestLog: a line for each request on standard error, as text or as JSON, and for what else happens to the server.
// Never a prompt, an answer or a key.
#pragma once

#include <unistd.h>

#include <optional>
#include <string_view>

#include "server/line_writer.h"

namespace ingot {

enum class LogForm : std::uint8_t { text, json, none };

struct LoggedRequest {
  std::string peer;
  std::string method;
  std::string path;  // decoded; the line has it encoded again
  int status = 0;
  double seconds = 0;    // from the request to the end of its answer
  bool is_poll = false;  // asks every few seconds how the server does: only what goes wrong is worth a line
  // Where a model answered.
  std::string model = {};
  std::string end = {};
  std::int64_t prompt_tokens = 0;
  std::int64_t cached_tokens = 0;
  std::int64_t generated_tokens = 0;
  double first_token_seconds = 0;
};

// The line, without its end. `moment`: when, as RFC 3339 has it.
std::string log_line(const LoggedRequest& request, LogForm form, const std::string& moment);

std::string note_line(std::string_view note, LogForm form, const std::string& moment);

class RequestLog {
 public:
  explicit RequestLog(LogForm form, int descriptor = STDERR_FILENO);
  // --- from any thread; neither waits ---
  void add(const LoggedRequest& request);
  void note(std::string_view note);
  // Lines that nobody took in time.
  std::int64_t lost() const { return writer_ ? writer_->lost() : 0; }

 private:
  LogForm form_;
  std::optional<LineWriter> writer_;
};

}  // namespace ingot
