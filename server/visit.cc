#include "server/visit.h"

#include "server/answer_id.h"

namespace ingot {
namespace {

// As nginx logs it: the client closed the connection before the answer was there.
constexpr int client_closed = 499;

// While nothing else is sent: a comment, or the event that clients of Anthropic's know.
std::string_view ping_of(protocol::ErrorForm form) {
  return form == protocol::ErrorForm::openai ? ": ping\n\n" : "event: ping\ndata: {\"type\":\"ping\"}\n\n";
}

}  // namespace

Visit::Visit(std::shared_ptr<http::Exchange> exchange, Visitor visitor, std::vector<http::Header> headers,
             RequestLog& log, protocol::ErrorForm errors)
    : exchange_(std::move(exchange)),
      visitor_(visitor),
      headers_(std::move(headers)),
      log_(log),
      errors_(errors),
      id_(errors == protocol::ErrorForm::anthropic ? answer_id("req_") : "") {
  if (!id_.empty()) headers_.push_back({"request-id", id_});
  logged_.peer = request().peer;
  logged_.method = request().method;
  logged_.path = request().path;
}

void Visit::log(int status) {
  logged_.status = status;
  logged_.seconds = seconds();
  log_.add(logged_);
}

void Visit::answer(int status, std::string_view content_type, std::string body, std::vector<http::Header> headers) {
  http::Answer answer{.status = status, .headers = headers_, .body = std::move(body)};
  if (!content_type.empty()) answer.headers.push_back({"Content-Type", std::string(content_type)});
  for (http::Header& header : headers) answer.headers.push_back(std::move(header));
  exchange_->answer(std::move(answer));
  log(status);
}

void Visit::refuse(const protocol::ApiError& error, std::vector<http::Header> headers) {
  if (error.retry_after_seconds) headers.push_back({"Retry-After", std::to_string(*error.retry_after_seconds)});
  if (error.status == 401) headers.push_back({"WWW-Authenticate", "Bearer"});
  answer(error.status, "application/json", protocol::error_json(error, errors_, id_), std::move(headers));
}

void Visit::begin_events() {
  http::Answer head{.status = 200, .headers = headers_};
  head.headers.push_back({"Content-Type", "text/event-stream; charset=utf-8"});
  head.headers.push_back({"Cache-Control", "no-cache"});
  head.headers.push_back({"X-Accel-Buffering", "no"});  // nginx would keep what should be seen at once
  exchange_->begin_stream(std::move(head), ping_of(errors_));
  has_begun_ = true;
}

void Visit::end_events() {
  exchange_->end_stream();
  log(200);
}

void Visit::abandon() { log(client_closed); }

}  // namespace ingot
