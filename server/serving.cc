#include "server/serving.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>

namespace ingot {
namespace {

// Reading JSON, rendering and tokenizing take little beside a pass; one thread keeps the processors for those.
constexpr int helper_threads = 1;

// What answers are held to may take a second each, by the clock: two, so that one of them does not keep all others
// waiting, and no more, since each takes a processor from the passes.
constexpr int compiler_threads = 2;
constexpr HelperLimits compiler_limits = {.tasks = 64, .bytes = 64 << 20};

constexpr std::chrono::seconds time_to_be_told{5};

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

// Of those, one that comes within a moment; 0 where none does.
int next_signal() {
  const sigset_t signals = ending_signals();
  const timespec moment = {.tv_sec = 0, .tv_nsec = 20'000'000};
  return std::max(::sigtimedwait(&signals, nullptr, &moment), 0);
}

std::string seconds_text(std::chrono::duration<double> time) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.2f", time.count());
  return text.data();
}

// Not by the signal itself, of which the first process of a container does not die.
[[noreturn]] void end_process(int signal) { ::_exit(128 + signal); }

}  // namespace

Serving::Serving(ServingOptions options)
    : options_(std::move(options)),
      application_({.keys = options_.keys,
                    .hosts = options_.hosts,
                    .origins = options_.origins,
                    .log = options_.log,
                    .deadline_seconds = options_.deadline_seconds,
                    .hides_page = options_.hides_page},
                   passes_, helpers_, compilers_),
      helpers_(helper_threads),
      compilers_(compiler_threads, compiler_limits) {}

Result<std::unique_ptr<Serving>> Serving::create(ServingOptions options) {
  // Before any thread is started: each inherits what is blocked, so that one alone takes them.
  const sigset_t signals = ending_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // of a log whose reader has left
  std::unique_ptr<Serving> serving(new Serving(std::move(options)));
  serving->server_ = TRY(http::Server::create(serving->options_.http, serving->application_));
  serving->application_.attach(*serving->server_);
  serving->loop_ = std::thread([server = serving->server_.get()] { server->run(); });
  serving->signals_ = std::thread([self = serving.get()] { self->wait_for_signals(); });
  return serving;
}

Serving::~Serving() {
  if (server_ != nullptr) server_->stop();
  if (loop_.joinable()) loop_.join();
  compilers_.end();
  helpers_.end();
  // The last: until here whoever is impatient is heard.
  if (signals_.joinable()) {
    is_destroyed_ = true;
    ::pthread_kill(signals_.native_handle(), SIGINT);  // which it waits for
    signals_.join();
  }
}

std::vector<std::string> Serving::addresses() const {
  std::vector<std::string> addresses;
  const http::ServerOptions& http = options_.http;
  if (!http.host.empty()) {
    const bool is_version_6 = http.host.find(':') != std::string::npos;
    const std::string scheme = http.certificate.empty() ? "http://" : "https://";
    addresses.push_back(scheme + (is_version_6 ? "[" + http.host + "]" : http.host) + ":" + std::to_string(port()));
  }
  if (!http.unix_path.empty()) addresses.push_back("unix:" + http.unix_path);
  return addresses;
}

Result<const HostedModel*> Serving::add(std::shared_ptr<const Model> model, HostedModelOptions options) {
  models_.push_back(TRY(HostedModel::create(std::move(model), std::move(options), passes_.bell())));
  HostedModel* const added = models_.back().get();
  passes_.add({.step = [added] { return added->step(); },
               .earliest_deadline = [added] { return added->earliest_deadline(); },
               .cancel_all = [added] { added->cancel_all(); }});
  return static_cast<const HostedModel*>(added);
}

bool Serving::open() {
  std::vector<HostedModel*> models;
  for (const std::unique_ptr<HostedModel>& model : models_) models.push_back(model.get());
  Phase loading = Phase::loading;
  if (!phase_.compare_exchange_strong(loading, Phase::open)) return false;
  application_.open(std::move(models));
  return true;
}

void Serving::run() { passes_.run(); }

void Serving::wait_for_signals() {
  const sigset_t signals = ending_signals();
  int signal = 0;
  ::sigwait(&signals, &signal);
  if (is_destroyed_) return;
  // Nobody is answered yet, and nothing interrupts the loading of a model.
  if (phase_.exchange(Phase::ending) == Phase::loading) end_process(signal);
  drain();
  server_->stop();
  passes_.stop();
  // A pass may take its time, and whoever waits for it may not.
  while (!is_destroyed_) {
    const int later = next_signal();
    if (later > 0 && !is_destroyed_) end_process(later);
  }
}

void Serving::drain() {
  using Clock = std::chrono::steady_clock;
  application_.close();
  const Clock::time_point begin = Clock::now();
  const std::int64_t requests = server_->counts().answering;
  if (requests > 0) {
    application_.note("ends: waits up to " + std::to_string(options_.drain.count()) + " s (--drain) for " +
                      std::to_string(requests) + " request(s) under way; a second signal cancels them");
  }
  const auto is_drained = std::make_shared<std::atomic<bool>>(false);
  server_->drain([is_drained] { *is_drained = true; });
  // A second signal is impatience.
  const auto wait_until = [&](Clock::time_point end) {
    bool is_hurried = false;
    while (!*is_drained && !is_hurried && !is_destroyed_ && Clock::now() < end) {
      is_hurried = next_signal() > 0;
    }
  };
  wait_until(begin + options_.drain);
  const std::int64_t left = *is_drained ? 0 : server_->counts().answering;
  if (requests > 0 || left > 0) {
    application_.note("ends: waited " + seconds_text(Clock::now() - begin) + " s, " +
                      (left > 0 ? std::to_string(left) + " request(s) cancelled" : "all requests have ended"));
  }
  if (*is_drained) return;
  // What is cancelled is told so, which takes a pass.
  application_.cancel_all();
  wait_until(Clock::now() + time_to_be_told);
}

}  // namespace ingot
