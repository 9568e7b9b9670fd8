// Other programs: the emulator and the maker of boot discs.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ingot::image {

// The program's path by PATH; nothing where there is none.
std::optional<std::string> find_program(const std::string& name);

// A folder of its own below TMPDIR, removed with all that is in it.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

struct ProcessEnd {
  int status = 0;  // of exit; 128 + the signal that ended it otherwise, as shells say it
};

// What the program writes to a descriptor, for example 2.
struct Channel {
  int descriptor = 2;
  std::function<void(std::string_view)> use;
};

// One of ours that the program gets under another number.
struct InheritedDescriptor {
  int ours = 0, number = 0;
};

// Runs a program to its end with our standard input and output, but for the channels. Environment entries are added to
// ours.
struct ProcessRequest {
  std::vector<std::string> words;        // the first is found by PATH
  std::vector<std::string> environment;  // NAME=VALUE
  std::vector<int> silenced;             // descriptors that lead nowhere
  std::vector<Channel> channels;
  // Asked after each piece of a channel; once it says yes, the program is told to end. Empty: it ends by itself.
  std::function<bool()> has_enough{};
  std::vector<InheritedDescriptor> inherited{};
  // Called each time that this process is told to end, by SIGTERM or Ctrl-C. The first time the program may finish what
  // it does, the second time it is told to end itself, then it is killed. Empty: this process ends, and the program
  // with it.
  std::function<void(int times)> asked_to_end{};
  bool ends_at_once = false;  // the first time already it is told to end itself, the second time it is killed
  // Signals that follow one another sooner are one wish: `timeout` tells a process and then its group.
  std::chrono::milliseconds one_wish{0};
  // Ctrl-C on a terminal reaches this process alone. Then the program must not read from that terminal.
  bool has_own_group = false;
};
Result<ProcessEnd> run_process(const ProcessRequest& request);

}  // namespace ingot::image
