#include "cli/standard_input.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "cli/terminal.h"

namespace ingot {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;

void explain_a_long_wait() {
  constexpr int patience_ms = 2000;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, patience_ms) != 0) return;
  print_note("waiting for text on standard input, which is no terminal; </dev/null gives none");
}

}  // namespace

bool has_piped_input() {
  struct stat status{};
  if (fstat(STDIN_FILENO, &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode) || S_ISSOCK(status.st_mode);
}

Result<std::string> read_standard_input() {
  if (has_piped_input()) explain_a_long_wait();
  std::string text;
  char buffer[1 << 16];
  while (const std::size_t read = std::fread(buffer, 1, sizeof(buffer), stdin)) {
    text.append(buffer, read);
    if (text.size() > most_bytes) {
      return Error::of(ErrorCode::out_of_range, "standard input: expected at most 1 GiB, found more; give a file");
    }
  }
  if (std::ferror(stdin) != 0) {
    return Error::of(ErrorCode::input_output, "standard input: expected to read to its end, found that it was refused");
  }
  return text;
}

std::string joined_prompt(const std::string& given, std::string piped) {
  if (piped.ends_with('\n')) piped.pop_back();
  if (piped.ends_with('\r')) piped.pop_back();
  if (given.empty() || piped.empty()) return given + piped;
  return given + '\n' + piped;
}

}  // namespace ingot
