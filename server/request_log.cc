#include "server/request_log.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string_view>

#include "server/protocol/json_text.h"

namespace ingot {
namespace {

std::string moment_now() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm parts = {};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 40> text;
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text.data() + length, text.size() - length, ".%03dZ", static_cast<int>(milliseconds));
  return text.data();
}

std::string with_three_digits(double seconds) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3f", seconds);
  return text.data();
}

// A path is whatever a client sent. As it is sent: of visible ASCII, so that none looks like another column or line.
std::string encoded(std::string_view path) {
  std::string result;
  for (const char letter : path) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte > ' ' && byte < 0x7f && byte != '%') {
      result += letter;
    } else {
      result += '%';
      result += "0123456789ABCDEF"[byte >> 4];
      result += "0123456789ABCDEF"[byte & 15];
    }
  }
  return result;
}

std::string text_line(const LoggedRequest& request, const std::string& moment) {
  std::string line = moment + " " + request.peer + " " + request.method + " " + encoded(request.path) + " " +
                     std::to_string(request.status) + " " + with_three_digits(request.seconds) + " s";
  if (request.model.empty()) return line;
  line += " " + request.model + ": " + std::to_string(request.prompt_tokens) + " tokens in";
  if (request.cached_tokens > 0) line += " (" + std::to_string(request.cached_tokens) + " known)";
  line += ", " + std::to_string(request.generated_tokens) + " out";
  if (request.generated_tokens > 0)
    line += ", the first after " + with_three_digits(request.first_token_seconds) + " s";
  if (!request.end.empty()) line += ", " + request.end;
  return line;
}

std::string json_line(const LoggedRequest& request, const std::string& moment) {
  std::string line;
  protocol::JsonWriter json(line);
  json.open_object().key("time").text(moment).key("peer").text(request.peer);
  json.key("method").text(request.method).key("path").text(encoded(request.path));
  json.key("status").number(request.status).key("seconds").number(request.seconds);
  if (!request.model.empty()) {
    json.key("model").text(request.model).key("prompt_tokens").number(request.prompt_tokens);
    json.key("cached_tokens").number(request.cached_tokens).key("generated_tokens").number(request.generated_tokens);
    json.key("first_token_seconds").number(request.first_token_seconds).key("end").text(request.end);
  }
  json.close_object();
  return line;
}

}  // namespace

std::string log_line(const LoggedRequest& request, LogForm form, const std::string& moment) {
  return form == LogForm::json ? json_line(request, moment) : text_line(request, moment);
}

std::string note_line(std::string_view note, LogForm form, const std::string& moment) {
  if (form != LogForm::json) return moment + " " + std::string(note);
  std::string line;
  protocol::JsonWriter(line).open_object().key("time").text(moment).key("note").text(note).close_object();
  return line;
}

RequestLog::RequestLog(LogForm form, int descriptor) : form_(form) {
  if (form != LogForm::none) writer_.emplace(descriptor);
}

void RequestLog::add(const LoggedRequest& request) {
  if (!writer_ || (request.is_poll && request.status == 200)) return;
  writer_->add(log_line(request, form_, moment_now()) + "\n");
}

void RequestLog::note(std::string_view note) {
  if (writer_) writer_->add(note_line(note, form_, moment_now()) + "\n");
}

}  // namespace ingot
