#include "server/http/answer_text.h"

#include <cstdio>

namespace ingot::http {
namespace {

void append_clean(std::string& text, std::string_view part) {
  for (const char letter : part) text += letter == '\r' || letter == '\n' || letter == '\0' ? ' ' : letter;
}

// 1xx, 204 and 304 end with their head (RFC 9110, section 6.4.1).
bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace

std::string_view phrase_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return "Other";
  }
}

std::string head_text(const Answer& answer, const AnswerForm& form, std::string_view date) {
  std::string text;
  text.reserve(256);
  text.append("HTTP/1.1 ").append(std::to_string(answer.status)).append(" ").append(phrase_of(answer.status));
  text.append("\r\nDate: ").append(date).append("\r\n");
  for (const Header& header : answer.headers) {
    append_clean(text, header.name);
    text += ": ";
    append_clean(text, header.value);
    text += "\r\n";
  }
  if (has_body(answer.status)) {
    if (form.body == BodyForm::by_length) {
      text.append("Content-Length: ").append(std::to_string(form.length)).append("\r\n");
    } else if (form.body == BodyForm::in_chunks) {
      text += "Transfer-Encoding: chunked\r\n";
    }
  }
  if (!form.keeps_alive) {
    text += "Connection: close\r\n";
  } else if (form.is_version_1_0) {
    text += "Connection: keep-alive\r\n";
  }
  text += "\r\n";
  return text;
}

std::string_view DateText::at(std::time_t now) {
  if (now != made_) {
    made_ = now;
    static constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                             "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::tm when = {};
    gmtime_r(&now, &when);
    // Not strftime: its names are those of the locale.
    std::snprintf(text_, sizeof(text_), "%s, %02u %s %04u %02u:%02u:%02u GMT", days[when.tm_wday % 7],
                  static_cast<unsigned>(when.tm_mday) % 100, months[when.tm_mon % 12],
                  static_cast<unsigned>(when.tm_year + 1900) % 10000, static_cast<unsigned>(when.tm_hour) % 100,
                  static_cast<unsigned>(when.tm_min) % 100, static_cast<unsigned>(when.tm_sec) % 100);
  }
  return text_;
}

}  // namespace ingot::http
