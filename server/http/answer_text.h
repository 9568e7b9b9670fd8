// The head of an answer as HTTP spells it.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace ingot::http {

std::string_view phrase_of(int status);

// How the client learns where the body ends.
enum class BodyForm : std::uint8_t { by_length, in_chunks, until_close };

struct AnswerForm {
  BodyForm body = BodyForm::by_length;
  std::size_t length = 0;       // where it is known
  bool keeps_alive = true;      // another request may follow
  bool is_version_1_0 = false;  // of the request
};

// Line breaks in names and values become spaces: no text that a handler repeats can begin a line of its own.
std::string head_text(const Answer& answer, const AnswerForm& form, std::string_view date);

// "Tue, 17 Nov 2026 10:00:00 GMT", made once a second.
class DateText {
 public:
  std::string_view at(std::time_t now);

 private:
  std::time_t made_ = -1;
  char text_[32] = {};
};

}  // namespace ingot::http
