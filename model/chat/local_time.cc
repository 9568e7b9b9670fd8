#include "model/chat/local_time.h"

#include <algorithm>
#include <optional>

namespace ingot::chat {

namespace {

constexpr std::string_view days[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr std::string_view months[] = {"January", "February", "March",     "April",   "May",      "June",
                                       "July",    "August",   "September", "October", "November", "December"};

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

// 0 for the first of January.
int day_of_year(const LocalTime& time) {
  static constexpr int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  return before[time.month - 1] + time.day - 1 + (time.month > 2 && is_leap(time.year) ? 1 : 0);
}

// 0 for Sunday; Zeller's congruence shifted to it.
int weekday(const LocalTime& time) {
  static constexpr int shift[] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
  const int year = time.month < 3 ? time.year - 1 : time.year;
  return (year + year / 4 - year / 100 + year / 400 + shift[time.month - 1] + time.day) % 7;
}

int iso_weeks(int year) {
  const int first = weekday({year, 1, 1});
  return first == 4 || (first == 3 && is_leap(year)) ? 53 : 52;
}

struct IsoWeek {
  int year, week;
};

// Weeks start on Monday; the first holds the year's first Thursday.
IsoWeek iso_week(const LocalTime& time) {
  const int monday_based = (weekday(time) + 6) % 7;
  const int week = (day_of_year(time) - monday_based + 10) / 7;
  if (week < 1) return {time.year - 1, iso_weeks(time.year - 1)};
  if (week > iso_weeks(time.year)) return {time.year + 1, 1};
  return {time.year, week};
}

std::string number(int value, std::size_t width, char flag, char padding = '0') {
  std::string digits = std::to_string(value);
  if (flag == '_') padding = ' ';
  if (flag == '0') padding = '0';
  if (flag != '-' && digits.size() < width) digits.insert(0, width - digits.size(), padding);
  return digits;
}

class TimeFormatter {
 public:
  explicit TimeFormatter(const LocalTime& time) : time_(time) {}

  std::string format(std::string_view format) const {
    std::string out;
    for (std::size_t offset = 0; offset < format.size(); ++offset) {
      if (format[offset] != '%' || offset + 1 == format.size()) {
        out += format[offset];
        continue;
      }
      const std::size_t start = offset++;
      char flag = 0;
      if (std::string_view("-_0^#").find(format[offset]) != std::string_view::npos && offset + 1 < format.size()) {
        flag = format[offset++];
      }
      // What the C library does not know, it prints as it stands.
      std::string field =
          directive(format[offset], flag).value_or(std::string(format.substr(start, offset - start + 1)));
      if (flag == '^') std::transform(field.begin(), field.end(), field.begin(), capital);
      out += field;
    }
    return out;
  }

 private:
  static char capital(char letter) {
    return static_cast<char>(letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter);
  }

  std::optional<std::string> directive(char letter, char flag) const {
    const std::string day(days[weekday(time_)]);
    const std::string month(months[time_.month - 1]);
    const int hour = time_.hour % 12 == 0 ? 12 : time_.hour % 12;
    switch (letter) {
      case 'a': return day.substr(0, 3);
      case 'A': return day;
      case 'b':
      case 'h': return month.substr(0, 3);
      case 'B': return month;
      case 'c': return format("%a %b %e %H:%M:%S %Y");
      case 'C': return number(time_.year / 100, 2, flag);
      case 'd': return number(time_.day, 2, flag);
      case 'D':
      case 'x': return format("%m/%d/%y");
      case 'e': return number(time_.day, 2, flag, ' ');
      case 'f': return "000000";
      case 'F': return format("%Y-%m-%d");
      case 'g': return number(iso_week(time_).year % 100, 2, flag);
      case 'G': return number(iso_week(time_).year, 4, flag);
      case 'H': return number(time_.hour, 2, flag);
      case 'I': return number(hour, 2, flag);
      case 'j': return number(day_of_year(time_) + 1, 3, flag);
      case 'k': return number(time_.hour, 2, flag, ' ');
      case 'l': return number(hour, 2, flag, ' ');
      case 'm': return number(time_.month, 2, flag);
      case 'M': return number(time_.minute, 2, flag);
      case 'n': return "\n";
      case 'p': return time_.hour < 12 ? "AM" : "PM";
      case 'P': return time_.hour < 12 ? "am" : "pm";
      case 'r': return format("%I:%M:%S %p");
      case 'R': return format("%H:%M");
      case 'S': return number(time_.second, 2, flag);
      case 't': return "\t";
      case 'T':
      case 'X': return format("%H:%M:%S");
      case 'u': return std::to_string(weekday(time_) == 0 ? 7 : weekday(time_));
      case 'U': return number((day_of_year(time_) + 7 - weekday(time_)) / 7, 2, flag);
      case 'V': return number(iso_week(time_).week, 2, flag);
      case 'w': return std::to_string(weekday(time_));
      case 'W': return number((day_of_year(time_) + 7 - (weekday(time_) + 6) % 7) / 7, 2, flag);
      case 'y': return number(time_.year % 100, 2, flag);
      case 'Y': return number(time_.year, 1, flag);
      case 'z':
      case 'Z': return "";  // a moment without a zone
      case '%': return "%";
      default: return std::nullopt;
    }
  }

  const LocalTime& time_;
};

}  // namespace

Result<std::string> format_time(const LocalTime& time, std::string_view format) {
  const bool is_date =
      time.year >= 1 && time.year <= 9999 && time.month >= 1 && time.month <= 12 && time.day >= 1 && time.day <= 31;
  if (!is_date) {
    return Error::of(ErrorCode::invalid_argument, "expected a date, found ", time.year, "-", time.month, "-", time.day);
  }
  return TimeFormatter(time).format(format);
}

}  // namespace ingot::chat
