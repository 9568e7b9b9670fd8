// A moment on a calendar, and its text. Templates print the date; whoever renders says what it is.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace ingot::chat {

struct LocalTime {
  int year = 1970;
  int month = 1;  // 1..12
  int day = 1;    // 1..31
  int hour = 0;
  int minute = 0;
  int second = 0;
};

// Python's strftime in the C locale, with the `-` that drops zeros (%-d).
Result<std::string> format_time(const LocalTime& time, std::string_view format);

}  // namespace ingot::chat
