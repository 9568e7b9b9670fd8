#include "train/record/run_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "model/files/mapped_file.h"
#include "model/files/quoted.h"
#include "model/files/replaced_file.h"
#include "train/record/run_line.h"

namespace ingot {

namespace {

struct ReadLog {
  std::vector<RunStep> steps;
  std::uint64_t length = 0;  // bytes of the lines that count
  std::uint64_t file_length = 0;
};

// The lines of steps up to `last_step`; all lines are checked.
Result<ReadLog> read_lines(std::string_view text, std::int64_t last_step) {
  ReadLog log;
  log.file_length = text.size();
  std::int64_t line_number = 0, previous = -1;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) break;
    ++line_number;
    const Result<RunStep> step = read_run_line(text.substr(begin, end - begin));
    const bool is_last = end + 1 == text.size();
    begin = end + 1;
    if (!step.ok()) {
      if (is_last && line_number > 1) break;
      return step.error().within("line ", line_number);
    }
    if (step.value().step <= previous) {
      return Error::of(ErrorCode::corrupt, "line ", line_number, ": expected a step above ", previous, ", found ",
                       step.value().step);
    }
    previous = step.value().step;
    if (previous > last_step) continue;
    log.steps.push_back(step.value());
    log.length = begin;
  }
  // One unfinished line is what a crash leaves; a file of it alone that does not even begin like one is something else.
  if (line_number == 0 && !text.starts_with("{")) {
    return Error::of(ErrorCode::corrupt, "expected lines of JSON objects, found ", Quoted{text});
  }
  return log;
}

Result<ReadLog> read_log(const std::string& path, std::int64_t last_step) {
  std::error_code status;
  if (std::filesystem::is_regular_file(path, status) && std::filesystem::file_size(path, status) == 0) return ReadLog{};
  const MappedFile file = TRY(MappedFile::open(path));
  Result<ReadLog> log = read_lines(file.text(), last_step);
  if (!log.ok()) return log.error().within("run log ", Quoted{path});
  return log;
}

Result<void> cut_log(const std::string& path, std::uint64_t length) {
  ReplacedFile file = TRY(ReplacedFile::create(path));
  const MappedFile old = TRY(MappedFile::open(path));
  TRY(file.write(old.bytes().first(length)));
  return file.commit();
}

Error log_failure(const std::string& path, std::string_view action) {
  const int code = errno;
  return Error::of(ErrorCode::input_output, "run log ", Quoted{path}, ": expected ", action,
                   " to succeed, found: ", static_cast<const char*>(std::strerror(code)));
}

Result<void> write_all(int descriptor, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return log_failure(path, "a write");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Result<std::vector<RunStep>> read_run_log(const std::string& path) {
  ReadLog log = TRY(read_log(path, std::numeric_limits<std::int64_t>::max()));
  return std::move(log.steps);
}

Result<RunLog> RunLog::open(const std::string& path, std::int64_t resumed_step) {
  ReadLog log;
  std::error_code status;
  if (std::filesystem::exists(path, status)) log = TRY(read_log(path, resumed_step));
  if (log.length != log.file_length) TRY(cut_log(path, log.length));
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) return log_failure(path, "opening it");
  return RunLog(path, descriptor, static_cast<std::int64_t>(log.length), std::move(log.steps));
}

RunLog::RunLog(std::string path, int descriptor, std::int64_t length, std::vector<RunStep> steps)
    : path_(std::move(path)), descriptor_(descriptor), length_(length), steps_(std::move(steps)) {}

RunLog::RunLog(RunLog&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      length_(other.length_),
      steps_(std::move(other.steps_)) {}

RunLog::~RunLog() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<void> RunLog::append(const RunStep& step) {
  const std::int64_t previous = steps_.empty() ? -1 : steps_.back().step;
  if (step.step <= previous || step.tokens < 0) {
    return Error::of(ErrorCode::invalid_argument, "run log ", Quoted{path_}, ": expected a step above ", previous,
                     " and tokens of at least 0, found step ", step.step, " with ", step.tokens, " tokens");
  }
  const std::string line = run_line(step) + "\n";
  const Result<void> written = write_all(descriptor_, line, path_);
  if (!written.ok()) {
    // Part of a line would swallow the next one. Where even this fails, the reader sees a torn line.
    [[maybe_unused]] const int ignored = ftruncate(descriptor_, length_);
    return written;
  }
  length_ += static_cast<std::int64_t>(line.size());
  steps_.push_back(step);
  return {};
}

}  // namespace ingot
