// Log: one line an event, to every sink, and the last lines kept for whoever asks after a crash.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/text.h"
#include "os/schedule/spin_lock.h"
#include "os/trace/format.h"

namespace ingot::os {

enum class LogLevel : std::uint8_t { debug, information, warning, error, panic };

// Where lines go: a port, a serial line, a screen. Called with the log's lock held, so it must not log.
class LogSink {
 public:
  virtual void write_line(std::string_view line) = 0;

 protected:
  ~LogSink() = default;
};

class Log {
 public:
  static constexpr std::size_t line_capacity = 125;  // with its length, a line takes 128 bytes
  static constexpr std::size_t kept_lines = 64;
  static constexpr std::size_t sink_capacity = 4;
  using Line = FixedText<line_capacity>;

  Log() : lock_(LockRank::log, SharedWith::interrupts) {}

  // What a line of this level begins with.
  static constexpr std::string_view prefix_of(LogLevel level) {
    constexpr std::array<std::string_view, 5> prefixes = {"debug: ", "", "warning: ", "error: ", "panic: "};
    return prefixes[static_cast<std::size_t>(level)];
  }

  // The sink gets lines of this level and above. One more than fit is refused: false.
  bool add_sink(LogSink& sink, LogLevel least);

  // What is longer than a line goes on in the next, behind two blanks.
  template <class... Parts>
  void write(LogLevel level, const Parts&... parts) {
    Text text(*this, level);
    (text.append(parts), ...);
    commit(level, text.line);
  }
  template <class... Parts>
  void debug(const Parts&... parts) {
    write(LogLevel::debug, parts...);
  }
  template <class... Parts>
  void information(const Parts&... parts) {
    write(LogLevel::information, parts...);
  }
  template <class... Parts>
  void warning(const Parts&... parts) {
    write(LogLevel::warning, parts...);
  }
  template <class... Parts>
  void error(const Parts&... parts) {
    write(LogLevel::error, parts...);
  }

  // For a panic, which may have interrupted the lock's holder: no lock from now on, every sink gets every line, and the
  // kept lines stay as they are.
  void enter_panic() { panicking_ = true; }
  // What was said before, once more, only for sinks that get everything: a small screen shall keep the report.
  template <class... Parts>
  void repeat(const Parts&... parts) {
    Line line;
    line.append_all(parts...);
    send(LogLevel::debug, line.view());
  }

  // The kept lines from the oldest to the newest. For a panic, or where no other CPU logs.
  template <class Visit>
  void visit_kept(Visit&& visit) const {
    const std::size_t count = written_ < kept_lines ? written_ : kept_lines;
    for (std::size_t index = written_ - count; index < written_; ++index) visit(kept_[index % kept_lines].view());
  }

 private:
  // What is being written: the lines before the last are sent when it is full.
  struct Text {
    Text(Log& its_log, LogLevel its_level) : log(its_log), level(its_level) { line.append(prefix_of(level)); }

    Text& append(std::string_view part);
    Text& append(const char* part) { return append(std::string_view(part)); }
    template <std::integral Plain>
    Text& append(Plain value) {
      return append(FixedText<20>().append(value).view());
    }
    template <class Describable>
      requires requires(const Describable& value, Text& text) { describe(value, text); }
    Text& append(const Describable& value) {
      return describe(value, *this), *this;
    }
    void wrap();

    Log& log;
    const LogLevel level;
    Line line;
  };
  struct Destination {
    LogSink* sink = nullptr;
    LogLevel least = LogLevel::debug;
  };

  void commit(LogLevel level, const Line& line);
  void send(LogLevel level, std::string_view line);

  SpinLock lock_;
  bool panicking_ = false;
  std::array<Destination, sink_capacity> destinations_{};
  std::size_t destination_count_ = 0;
  std::array<Line, kept_lines> kept_{};
  std::size_t written_ = 0;
};

}  // namespace ingot::os
