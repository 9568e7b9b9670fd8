#include "image/preflight.h"

#include <algorithm>

#include "base/system_call_numbers.h"
#include "image/bytes.h"
#include "image/kernel_image.h"

namespace ingot::image {

namespace {

constexpr std::uint64_t largest_program = std::uint64_t{2} << 30;

bool is_c_library(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view front : {"libc.so", "libc-", "ld-linux", "ld-musl", "libc.musl", "libpthread"}) {
    if (name.starts_with(front)) return true;
  }
  return false;
}

// Most functions are called as the system call is.
std::string_view call_of_function(std::string_view function) {
  constexpr std::pair<std::string_view, std::string_view> others[] = {
      {"sigaction", "rt_sigaction"},
      {"signal", "rt_sigaction"},
      {"sigprocmask", "rt_sigprocmask"},
      {"pthread_sigmask", "rt_sigprocmask"},
      {"raise", "tgkill"},
      {"send", "sendto"},
      {"recv", "recvfrom"},
      {"system", "execve"},
      {"popen", "execve"},
      {"posix_spawn", "execve"},
      {"execv", "execve"},
      {"execvp", "execve"},
      {"execl", "execve"},
      {"execlp", "execve"},
      {"waitpid", "wait4"},
      {"wait", "wait4"},
  };
  for (const auto& [name, call] : others) {
    if (name == function) return call;
  }
  return function;
}

// glibc and musl try these by design, at a program's start and for each thread, and go on without rseq and by clone.
bool has_fallback(std::string_view call) { return call == "clone3" || call == "rseq"; }

}  // namespace

std::uint64_t least_memory(std::uint64_t memory_end, std::uint64_t anonymous) {
  const std::uint64_t rest = anonymous + kernel_margin;
  if (memory_end <= begin_of_high_memory) return memory_end + rest;
  // Memory above the hole: a machine has at most 3 GiB below it before it has any there.
  constexpr std::uint64_t below_the_hole = std::uint64_t{3} << 30;
  return below_the_hole + (memory_end - begin_of_high_memory) + rest;
}

std::set<std::uint32_t> system_calls_in(const ElfFile& file) {
  constexpr std::string_view call("\x0f\x05", 2), clear_eax("\x31\xc0", 2);
  constexpr char load_eax = '\xb8';
  constexpr std::size_t farthest = 24;        // bytes from the load to the call: arguments are often set in between
  constexpr std::uint32_t most_calls = 1024;  // larger constants are not numbers of calls
  std::set<std::uint32_t> used;
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type != ElfSegment::load || (segment.flags & ElfSegment::execute) == 0) continue;
    const std::string_view code = file.content(segment);
    for (std::size_t at = code.find(call); at != std::string_view::npos; at = code.find(call, at + 1)) {
      const std::size_t least = at > farthest ? at - farthest : 0;
      for (std::size_t load = at; load-- > least;) {
        if (code[load] == load_eax && load + 5 <= at) {
          const auto number = number_at<std::uint32_t>(code, load + 1);
          if (number >= most_calls) continue;
          used.insert(number);
          break;
        }
        if (load + 2 == at && code.substr(load, 2) == clear_eax) {
          used.insert(0);
          break;
        }
      }
    }
  }
  return used;
}

std::vector<std::string> missing_system_calls(const std::set<std::uint32_t>& used) {
  std::vector<std::string> names;
  for (const std::uint32_t number : used) {
    const auto name = system_call_name(number);
    if (name && !is_implemented_system_call(*name)) names.emplace_back(*name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<MissingCalls> missing_calls_of(const FileTree& tree, const std::vector<std::string>& parts) {
  std::set<std::string> names;
  std::set<std::uint32_t> used, in_the_c_library;
  for (const std::string& path : parts) {
    const std::string bytes = TRY(tree.at(path)->content.read(largest_program));
    const ElfFile file = TRY(ElfFile::parse(bytes));
    (is_c_library(path) ? in_the_c_library : used).merge(system_calls_in(file));
    if (is_c_library(path)) continue;
    for (const std::string& import : TRY(file.imports())) {
      const std::optional<std::uint16_t> number = system_call_number(call_of_function(import));
      if (number) used.insert(*number);
    }
  }
  MissingCalls missing;
  missing.names = missing_system_calls(used);
  const auto tried = std::stable_partition(missing.names.begin(), missing.names.end(),
                                           [](const std::string& name) { return !has_fallback(name); });
  missing.tried.assign(tried, missing.names.end());
  missing.names.erase(tried, missing.names.end());
  for (const std::string& name : missing_system_calls(in_the_c_library)) {
    const bool is_named = std::binary_search(missing.names.begin(), missing.names.end(), name);
    if (!is_named && !has_fallback(name)) ++missing.more_in_the_c_library;
  }
  return missing;
}

}  // namespace ingot::image
