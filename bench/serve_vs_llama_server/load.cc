#include "bench/serve_vs_llama_server/load.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_map>

#include "bench/serve_vs_llama_server/connection.h"
#include "bench/serve_vs_llama_server/event_reader.h"

namespace ingot::load {
namespace {

constexpr std::uint64_t probe_number = std::numeric_limits<std::uint64_t>::max();

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Epoll {
 public:
  Epoll() : descriptor_(epoll_create1(EPOLL_CLOEXEC)) {}
  Epoll(const Epoll&) = delete;
  Epoll& operator=(const Epoll&) = delete;
  ~Epoll() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// A request under way.
struct Exchange {
  Connection connection;
  EventReader events = {};
  std::string body = {};     // that is not read yet; of a failure all of it
  bool has_ended = false;    // by [DONE]
  std::string failure = {};  // by an event
};

class Load {
 public:
  explicit Load(const LoadOptions& options)
      : options_(options), planned_(plan_requests(options.workload)), regular_(options.workload.requests) {
    record_.requests.resize(planned_.size());
    record_.has_intruder = std::ssize(planned_) > regular_;
  }

  Result<LoadRecord> run();

 private:
  using Clock = std::chrono::steady_clock;
  double now() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  bool is_over() const;
  double next_due() const;  // when something is to be done though nothing came; infinity where nothing is
  void send_due();
  void send(std::int64_t number, double due);
  void send_probe();
  Result<void> wait();
  void advance(std::uint64_t number, std::uint32_t events);
  void advance_probe(std::uint32_t events);
  void take_events(Exchange& exchange, RequestRecord& request);
  void finish(std::int64_t number, Outcome outcome, std::string failure = {});
  bool intruder_is_due() const;

  const LoadOptions& options_;
  const std::vector<PlannedRequest> planned_;
  const std::int64_t regular_;  // the requests before the intruder
  const Clock::time_point begin_ = Clock::now();
  Epoll epoll_;
  std::unordered_map<std::uint64_t, Exchange> running_;
  std::int64_t next_ = 0;  // the first that was not sent
  std::int64_t finished_ = 0;
  bool intruder_was_sent_ = false;
  std::optional<Connection> probe_;
  double probe_sent_ = -std::numeric_limits<double>::infinity();
  LoadRecord record_;
};

Result<LoadRecord> Load::run() {
  if (epoll_.descriptor() < 0) return Error::of(ErrorCode::input_output, "expected an epoll descriptor, found none");
  const double processor_begin = processor_seconds();
  while (!is_over() && now() < options_.most_seconds) {
    send_due();
    send_probe();
    if (!is_over()) TRY(wait());
  }
  record_.seconds = now();
  if (record_.window_end == 0) record_.window_end = record_.seconds;
  record_.processor_time = processor_seconds() - processor_begin;
  if (is_over()) {
    while (!running_.empty()) finish(static_cast<std::int64_t>(running_.begin()->first), Outcome::abandoned);
  }
  return std::move(record_);
}

bool Load::is_over() const {
  if (record_.has_intruder) return record_.requests.back().outcome != Outcome::waiting;
  return finished_ == regular_;
}

double Load::next_due() const {
  double due = options_.most_seconds;
  if (options_.workload.rate > 0 && next_ < regular_)
    due = std::min(due, planned_[static_cast<std::size_t>(next_)].arrival);
  if (!options_.probe_path.empty() && !probe_) due = std::min(due, probe_sent_ + options_.probe_interval);
  return due;
}

bool Load::intruder_is_due() const {
  if (!record_.has_intruder || intruder_was_sent_) return false;
  if (finished_ == regular_) return true;  // they were too short: it comes to an empty server, and the report shows it
  const auto streams = std::min(options_.clients, regular_);
  return std::ranges::count_if(running_, [&](const auto& entry) {
           return std::ssize(record_.requests[entry.first].events) >= options_.intruder_after;
         }) >= streams;
}

void Load::send_due() {
  if (options_.workload.rate > 0) {
    while (next_ < regular_ && planned_[static_cast<std::size_t>(next_)].arrival <= now()) {
      send(next_, planned_[static_cast<std::size_t>(next_)].arrival);
      ++next_;
    }
    return;
  }
  const std::int64_t clients = std::min(options_.clients, regular_);
  while (next_ < regular_ && next_ - finished_ < clients) send(next_++, now());
  if (next_ == regular_ && regular_ - finished_ < clients && record_.window_end == 0) record_.window_end = now();
  if (intruder_is_due()) {
    intruder_was_sent_ = true;
    send(regular_, now());
  }
}

void Load::send(std::int64_t number, double due) {
  const PlannedRequest& planned = planned_[static_cast<std::size_t>(number)];
  RequestRecord& request = record_.requests[static_cast<std::size_t>(number)];
  request.sent = due;
  request.asked = planned.tokens;
  const auto key = static_cast<std::uint64_t>(number);
  Result<Connection> connection =
      Connection::open(options_.address, epoll_.descriptor(), key,
                       post_request("/v1/completions", body_of(planned, options_.workload, number)));
  if (!connection.ok()) return finish(number, Outcome::failed, std::string(connection.error().text()));
  running_.emplace(key, Exchange{.connection = std::move(connection).value()});
}

void Load::send_probe() {
  if (options_.probe_path.empty() || probe_ || now() < probe_sent_ + options_.probe_interval) return;
  probe_sent_ = now();
  Result<Connection> connection =
      Connection::open(options_.address, epoll_.descriptor(), probe_number, get_request(options_.probe_path));
  if (connection.ok()) {
    probe_.emplace(std::move(connection).value());
  } else {
    ++record_.probe.failures;
  }
}

Result<void> Load::wait() {
  epoll_event events[64];
  const double milliseconds = std::ceil(1000 * std::max(0.0, next_due() - now()));
  const int count =
      epoll_wait(epoll_.descriptor(), events, std::size(events), static_cast<int>(std::min(milliseconds, 60'000.0)));
  if (count < 0 && errno != EINTR) {
    return Error::of(ErrorCode::input_output, "epoll_wait: ", static_cast<const char*>(std::strerror(errno)));
  }
  for (int index = 0; index < count; ++index) {
    if (events[index].data.u64 == probe_number) {
      advance_probe(events[index].events);
    } else {
      advance(events[index].data.u64, events[index].events);
    }
  }
  return {};
}

void Load::advance_probe(std::uint32_t events) {
  std::string body;
  const Result<void> advanced = probe_->advance((events & EPOLLOUT) != 0, body);
  if (advanced.ok() && !probe_->is_complete()) return;
  if (advanced.ok() && probe_->status() == 200) {
    record_.probe.seconds.push_back(now() - probe_sent_);
  } else {
    ++record_.probe.failures;
  }
  probe_.reset();
}

void Load::advance(std::uint64_t number, std::uint32_t events) {
  Exchange& exchange = running_.at(number);
  RequestRecord& request = record_.requests[number];
  const Result<void> advanced = exchange.connection.advance((events & EPOLLOUT) != 0, exchange.body);
  const int status = exchange.connection.status();
  if (status == 200) take_events(exchange, request);
  const auto key = static_cast<std::int64_t>(number);
  if (!exchange.failure.empty()) return finish(key, Outcome::failed, exchange.failure);
  if (!advanced.ok()) return finish(key, Outcome::failed, std::string(advanced.error().text()));
  if (!exchange.connection.is_complete()) return;
  if (status != 200) {
    return finish(key, Outcome::failed, std::to_string(status) + ": " + error_message_of(exchange.body));
  }
  if (!exchange.has_ended) return finish(key, Outcome::failed, "expected [DONE] at the end of the stream");
  finish(key, Outcome::answered);
}

// All of one reading have one time: they came together.
void Load::take_events(Exchange& exchange, RequestRecord& request) {
  const double time = now();
  exchange.events.take(exchange.body, [&](std::string_view data) {
    const Result<StreamEvent> read = stream_event_of(data);
    if (!read.ok()) {
      exchange.failure = std::string(read.error().text());
      return;
    }
    const StreamEvent& event = read.value();
    if (!event.error.empty()) exchange.failure = event.error;
    if (event.has_text) request.events.push_back(time);
    if (event.is_last) exchange.has_ended = true;
    if (event.usage) {
      request.usage = *event.usage;
      request.has_usage = true;
    }
  });
  exchange.body.clear();
}

void Load::finish(std::int64_t number, Outcome outcome, std::string failure) {
  RequestRecord& request = record_.requests[static_cast<std::size_t>(number)];
  request.outcome = outcome;
  request.ended = now();
  request.failure = std::move(failure);
  running_.erase(static_cast<std::uint64_t>(number));
  if (number < regular_) ++finished_;
}

}  // namespace

Result<LoadRecord> run_load(const LoadOptions& options) {
  TRY(check(options.workload));
  if (options.clients < 1 || options.clients > 20'000) {
    return Error::of(ErrorCode::invalid_argument, "--clients: expected 1 to 20000, found ", options.clients);
  }
  if (!(options.most_seconds > 0 && options.most_seconds <= 86'400)) {
    return Error::of(ErrorCode::invalid_argument, "--seconds: expected more than 0 and at most 86400");
  }
  if (!(options.probe_interval >= 0.001)) {
    return Error::of(ErrorCode::invalid_argument, "--probe-interval: expected at least 0.001 s");
  }
  return Load(options).run();
}

}  // namespace ingot::load
