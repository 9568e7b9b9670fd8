#include "model/grammar/schema/formats.h"

#include <array>
#include <utility>

namespace ingot::grammar {

namespace {

// Days by the length of the month; the 29th of February in every fourth year that is no century, or every fourth of
// those (RFC 3339, appendix C).
constexpr std::string_view full_date =
    "(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2["
    "0-8]))"
    "|(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)";
// A 60th second is one of UTC's last minute of a day: with Z only, since other offsets would have to be computed.
constexpr std::string_view full_time =
    "(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?(?:[zZ]|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)|23:59:60(?:\\.\\d+)?["
    "zZ])";
// Labels that could be of another alphabet ("xn--...") are left out: whether one is right needs Unicode's tables. Not
// longer than 253 in all: few labels of any length, or more that are short.
constexpr std::string_view host_label =
    "(?:[a-zA-Z0-9](?:[a-zA-Z0-9]|[a-zA-Z0-9-]{1,2}[a-zA-Z0-9]|[a-zA-Z0-9-](?:[a-zA-Z0-9][a-zA-Z0-9-]|-[a-zA-Z0-9])"
    "[a-zA-Z0-9-]{0,58}[a-zA-Z0-9])?)";
constexpr std::string_view short_label =
    "(?:[a-zA-Z0-9](?:[a-zA-Z0-9]|[a-zA-Z0-9-]{1,2}[a-zA-Z0-9]|[a-zA-Z0-9-](?:[a-zA-Z0-9][a-zA-Z0-9-]|-[a-zA-Z0-9])"
    "[a-zA-Z0-9-]{0,25}[a-zA-Z0-9])?)";
constexpr std::string_view address_byte = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";

constexpr std::string_view pointer = "(?:/(?:[^~/]|~[01])*)*";

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

std::string ipv4() { return joined({address_byte, "(?:\\.", address_byte, "){3}"}); }

// RFC 4291, 2.2: eight groups, or fewer with one "::", the last two perhaps as an IPv4 address.
std::string ipv6() {
  constexpr std::string_view group = "[0-9a-fA-F]{1,4}";
  const std::string last_two = joined({"(?:", group, ":", group, "|", ipv4(), ")"});
  std::string text = joined({"(?:(?:", group, ":){6}", last_two});
  for (int before = 0; before <= 7; ++before) {
    // So many groups in front of "::", at most seven in all.
    std::string front;
    if (before > 0) front = joined({group, "(?::", group, "){", std::to_string(before - 1), "}"});
    text += joined({"|", front, "::"});
    const int most_behind = 7 - before;
    if (most_behind == 0) continue;
    std::string behind = joined({group, "(?::", group, "){0,", std::to_string(most_behind - 1), "}"});
    if (most_behind >= 2) {
      behind = joined({"(?:", behind, "|(?:", group, ":){0,", std::to_string(most_behind - 2), "}", ipv4(), ")"});
    }
    text += joined({"(?:", behind, ")?"});
  }
  return text + ")";
}

std::string hostname() {
  return joined({"(?:", host_label, "(?:\\.", host_label, "){0,2}|", short_label, "(?:\\.", short_label, "){3,7})"});
}

std::string email() {
  constexpr std::string_view atom = "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+";
  return joined({atom, "(?:\\.", atom, "){0,16}@", hostname()});
}

// RFC 3986. A reference may leave out the scheme; then no colon stands in its first segment.
std::string uri(bool is_reference) {
  constexpr std::string_view character = "(?:[a-zA-Z0-9._~!$&'()*+,;=:@-]|%[0-9a-fA-F]{2})";
  constexpr std::string_view user = "(?:[a-zA-Z0-9._~!$&'()*+,;=:-]|%[0-9a-fA-F]{2})";
  constexpr std::string_view name = "(?:[a-zA-Z0-9._~!$&'()*+,;=-]|%[0-9a-fA-F]{2})";
  const std::string segments = joined({"(?:/", character, "*)*"});
  const std::string rest = joined({"(?:\\?(?:", character, "|[/?])*)?(?:#(?:", character, "|[/?])*)?"});
  const std::string host = joined({"(?:\\[", ipv6(), "\\]|", name, "*)"});
  const std::string rooted =
      joined({"//(?:", user, "*@)?", host, "(?::\\d*)?", segments, "|/(?:", character, "+", segments, ")?"});
  const std::string absolute = joined({"[a-zA-Z][a-zA-Z0-9+.-]*:(?:", rooted, "|", character, "+", segments, "|)"});
  if (!is_reference) return absolute + rest;
  constexpr std::string_view without_colon = "(?:[a-zA-Z0-9._~!$&'()*+,;=@-]|%[0-9a-fA-F]{2})";
  return joined({"(?:", absolute, "|", rooted, "|", without_colon, "+", segments, "|)", rest});
}

}  // namespace

std::string pattern_of_format(std::string_view format) {
  if (format == "date") return std::string(full_date);
  if (format == "time") return std::string(full_time);
  if (format == "date-time") return joined({full_date, "[tT]", full_time});
  if (format == "duration") {
    constexpr std::string_view clock = "T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)";
    constexpr std::string_view days = "(?:\\d+D|\\d+M(?:\\d+D)?|\\d+Y(?:\\d+M(?:\\d+D)?)?)";
    return joined({"P(?:", days, "(?:", clock, ")?|", clock, "|\\d+W)"});
  }
  if (format == "ipv4") return ipv4();
  if (format == "ipv6") return ipv6();
  if (format == "uuid") return "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}";
  if (format == "hostname") return hostname();
  if (format == "email") return email();
  if (format == "uri") return uri(false);
  if (format == "uri-reference") return uri(true);
  if (format == "byte") return "(?:[a-zA-Z0-9+/]{4})*(?:[a-zA-Z0-9+/]{2}==|[a-zA-Z0-9+/]{3}=)?";
  if (format == "json-pointer") return std::string(pointer);
  if (format == "relative-json-pointer") return joined({"(?:0|[1-9]\\d*)(?:#|", pointer, ")"});
  return "";
}

}  // namespace ingot::grammar
