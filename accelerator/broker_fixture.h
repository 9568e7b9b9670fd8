// A broker in a process of its own, for tests of those who connect.
#pragma once

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "accelerator/broker.h"
#include "kernels/all_operations.h"
#include "machine/accelerator/accelerator_device.h"
#include "machine/machine.h"

namespace ingot {

inline std::vector<pid_t> children_of(pid_t process) {
  std::ifstream listed("/proc/" + std::to_string(process) + "/task/" + std::to_string(process) + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; listed >> child;) children.push_back(child);
  return children;
}

class RunningBroker {
 public:
  explicit RunningBroker(std::size_t most_clients = 64) {
    const std::filesystem::path folder = testing::TempDir();
    path_ = folder / ("accelerator." + std::to_string(::getpid()));
    int ready[2] = {-1, -1};
    if (::pipe(ready) != 0) return;
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // where a test ends the program
      BrokerOptions options;
      options.path = path_;
      options.task = {all_operations(), Machine::detect().features, 2};
      options.most_clients = most_clients;
      bool is_well = true;
      options.tell = [&](const ClientNews& news) {
        // Whatever a client wrote, what is told of it can be shown at a terminal, and as JSON.
        const bool is_text = std::ranges::all_of(news.end, [](unsigned char c) { return c >= ' ' && c < 0x7f; });
        if (is_text && news.end != asked_for_more) return;
        is_well = false;
        std::fprintf(stderr, "worker %d: %s\n", static_cast<int>(news.worker), news.end.c_str());
      };
      Result<Broker> broker = Broker::create(std::move(options));
      if (!broker.ok()) ::_exit(1);
      const char byte = '1';
      [[maybe_unused]] const ssize_t told = ::write(ready[1], &byte, 1);
      ::close(ready[0]);
      ::close(ready[1]);
      ::_exit(broker.value().run().ok() && is_well ? 0 : 1);
    }
    ::close(ready[1]);
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1) << "the broker did not begin to listen";
    ::close(ready[0]);
  }
  RunningBroker(const RunningBroker&) = delete;
  RunningBroker& operator=(const RunningBroker&) = delete;
  // What a contract needs of the system, a worker must be allowed.
  ~RunningBroker() {
    if (process_ <= 0) return;
    EXPECT_EQ(end(SIGTERM), 0);
  }

  const std::string& path() const { return path_; }
  pid_t process() const { return process_; }
  // Its exit code, or the signal that ended it.
  int end(int signal) {
    if (process_ <= 0) return -1;
    ::kill(process_, signal);
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = 0;
    std::filesystem::remove(path_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  }

 private:
  std::string path_;
  pid_t process_ = 0;
};

// Tests that share one broker, because it takes a while to begin.
class WithBroker : public testing::Test {
 protected:
  static void SetUpTestSuite() { shared_ = std::make_unique<RunningBroker>(); }
  static void TearDownTestSuite() { shared_.reset(); }
  const RunningBroker& broker = *shared_;

 private:
  static inline std::unique_ptr<RunningBroker> shared_;
};

}  // namespace ingot
