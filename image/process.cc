#include "image/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "image/bytes.h"

namespace ingot::image {

namespace {

Error cannot(std::string_view what) {
  return Error::of(ErrorCode::input_output, "expected to ", what, ", found: ", std::strerror(errno));
}

// In the child: nothing but calls that a forked process of a threaded program may make.
[[noreturn]] void become(char* const* words, char* const* environment, const std::vector<int>& silenced, int channel,
                         int pipe_end) {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int descriptor : silenced) ::dup2(nowhere, descriptor);
  if (pipe_end == channel) {
    ::fcntl(channel, F_SETFD, 0);  // dup2 would leave it to be closed
  } else {
    ::dup2(pipe_end, channel);
  }
  ::execve(words[0], words, environment);
  ::_exit(127);
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  const auto usable = [](const std::string& path) { return ::access(path.c_str(), X_OK) == 0; };
  if (name.find('/') != std::string::npos) return usable(name) ? std::optional(name) : std::nullopt;
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string candidate = std::string(rest.substr(0, colon)) + '/' + name;
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

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return cannot("create a pipe");
  const pid_t child = ::fork();
  if (child == 0) become(words.data(), environment.data(), request.silenced, request.channel, ends[1]);
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return cannot("start " + *program);
  }
  char piece[4096];
  for (;;) {
    const ssize_t count = ::read(ends[0], piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    if (request.use) request.use(std::string_view(piece, static_cast<std::size_t>(count)));
  }
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return cannot("wait for " + *program);
  }
  return ProcessEnd{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
}

}  // namespace ingot::image
