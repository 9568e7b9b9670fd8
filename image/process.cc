#include "image/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "image/bytes.h"

namespace ingot::image {

namespace {

Error cannot(std::string_view what) {
  return Error::of(ErrorCode::input_output, "expected to ", what, ", found: ", std::strerror(errno));
}

// SIGTERM, SIGINT and a terminal's end as a descriptor that can be read, for as long as this lives.
class EndSignals {
 public:
  EndSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    struct sigaction hang_up = {};
    ::sigaction(SIGHUP, nullptr, &hang_up);
    if (hang_up.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);  // as nohup says it
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
    descriptor_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
  }
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;
  ~EndSignals() {
    if (descriptor_ >= 0) ::close(descriptor_);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  int descriptor() const { return descriptor_; }
  const sigset_t& before() const { return before_; }
  void take() const {
    signalfd_siginfo taken;
    [[maybe_unused]] const ssize_t count = ::read(descriptor_, &taken, sizeof taken);
  }

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

// In the child: nothing but calls that a forked process of a threaded program may make.
[[noreturn]] void become(char* const* words, char* const* environment, const ProcessRequest& request,
                         const std::vector<int>& writing_ends, const EndSignals* signals, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);     // who reads its channels is gone: nobody would notice its end
  if (::getppid() != parent) ::_exit(1);  // it was gone before we asked
  if (signals != nullptr) ::sigprocmask(SIG_SETMASK, &signals->before(), nullptr);
  if (request.has_own_group) ::setpgid(0, 0);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int descriptor : request.silenced) ::dup2(nowhere, descriptor);
  for (std::size_t i = 0; i < writing_ends.size(); ++i) ::dup2(writing_ends[i], request.channels[i].descriptor);
  for (const InheritedDescriptor& each : request.inherited) ::dup2(each.ours, each.number);
  ::execve(words[0], words, environment);
  ::_exit(127);
}

class Pipe {
 public:
  // Its ends lie beyond all descriptors that a child's could be put over.
  static Result<Pipe> create() {
    constexpr int beyond = 100;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return cannot("create a pipe");
    Pipe pipe;
    for (int end = 0; end < 2; ++end) {
      pipe.ends_[end] = ::fcntl(ends[end], F_DUPFD_CLOEXEC, beyond);
      ::close(ends[end]);
    }
    if (pipe.ends_[0] < 0 || pipe.ends_[1] < 0) return cannot("create a pipe");
    return pipe;
  }
  Pipe(Pipe&& other) noexcept : ends_{std::exchange(other.ends_[0], -1), std::exchange(other.ends_[1], -1)} {}
  Pipe& operator=(Pipe&&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }
  void close_end(int end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  Pipe() = default;
  int ends_[2] = {-1, -1};
};

// What is done about the first signal, the second, and those that follow.
void pass_on_end(const ProcessRequest& request, int times, pid_t child) {
  request.asked_to_end(times);
  const int patience = request.ends_at_once ? 0 : 1;
  if (times > patience) ::kill(child, times == patience + 1 ? SIGTERM : SIGKILL);
}

// Until the child and all that it started have closed every channel.
void read_channels(const ProcessRequest& request, const std::vector<Pipe>& pipes, pid_t child,
                   const EndSignals* signals) {
  const std::vector<Channel>& channels = request.channels;
  bool is_told_to_end = false;
  int end_signals = 0;
  std::chrono::steady_clock::time_point told;
  std::vector<pollfd> waiting;
  for (const Pipe& pipe : pipes) waiting.push_back({pipe.reading(), POLLIN, 0});
  std::size_t open = waiting.size();
  if (signals != nullptr) waiting.push_back({signals->descriptor(), POLLIN, 0});
  while (open > 0) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;  // a signal
    if (signals != nullptr && waiting.back().revents != 0) {
      signals->take();
      const auto now = std::chrono::steady_clock::now();
      if (end_signals == 0 || now - told > request.one_wish) pass_on_end(request, ++end_signals, child);
      told = now;
    }
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if (waiting[i].revents == 0) continue;
      char piece[4096];
      const ssize_t count = ::read(waiting[i].fd, piece, sizeof piece);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        waiting[i].fd = -1;  // which poll passes over
        --open;
      } else if (channels[i].use) {
        channels[i].use(std::string_view(piece, static_cast<std::size_t>(count)));
        if (!is_told_to_end && request.has_enough && request.has_enough()) {
          is_told_to_end = true;
          ::kill(child, SIGTERM);  // by which an emulator gives the terminal back as it was
        }
      }
    }
  }
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  const auto usable = [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; };
  if (name.find('/') != std::string::npos) return usable(name) ? std::optional(name) : std::nullopt;
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    std::string candidate = std::string(rest.substr(0, colon)) + '/' + name;
    if (usable(candidate)) return candidate;
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  return {};
}

Result<TemporaryFolder> TemporaryFolder::create() {
  const char* chosen = std::getenv("TMPDIR");
  std::string name = std::string(chosen != nullptr && *chosen != '\0' ? chosen : "/tmp") + "/ingot-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return cannot("create a folder like '" + name + "'");
  return TemporaryFolder(name);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) {
  other.path_.clear();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // a folder that cannot be removed is litter, not a failure
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<ProcessEnd> run_process(const ProcessRequest& request) {
  const std::optional<std::string> program = find_program(request.words.at(0));
  if (!program) {
    return Error::of(ErrorCode::not_found, "expected the program '", request.words[0], "' by PATH, found none");
  }
  std::vector<char*> words, environment;
  words.push_back(const_cast<char*>(program->c_str()));
  for (std::size_t i = 1; i < request.words.size(); ++i) words.push_back(const_cast<char*>(request.words[i].c_str()));
  words.push_back(nullptr);
  for (const std::string& entry : request.environment) environment.push_back(const_cast<char*>(entry.c_str()));
  for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
  environment.push_back(nullptr);

  std::vector<Pipe> pipes;
  std::vector<int> writing_ends;
  for (std::size_t i = 0; i < request.channels.size(); ++i) {
    pipes.push_back(TRY(Pipe::create()));
    writing_ends.push_back(pipes.back().writing());
  }
  std::optional<EndSignals> signals;
  if (request.asked_to_end) signals.emplace();
  const EndSignals* const kept_signals = signals ? &*signals : nullptr;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(words.data(), environment.data(), request, writing_ends, kept_signals, parent);
  if (child < 0) return cannot("start " + *program);
  for (Pipe& pipe : pipes) pipe.close_end(1);
  read_channels(request, pipes, child, kept_signals);
  signals.reset();  // who closed all channels and stays is ended with this process
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return cannot("wait for " + *program);
  }
  return ProcessEnd{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
}

}  // namespace ingot::image
