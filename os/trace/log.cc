#include "os/trace/log.h"

#include "os/arch/arch.h"

namespace ingot::os {

bool Log::add_sink(LogSink& sink, LogLevel least) {
  if (destination_count_ == sink_capacity) return false;
  destinations_[destination_count_++] = {&sink, least};
  return true;
}

void Log::send(LogLevel level, std::string_view line) {
  for (std::size_t index = 0; index < destination_count_; ++index) {
    const Destination& destination = destinations_[index];
    if ((panicking_ && level > LogLevel::debug) || level >= destination.least) destination.sink->write_line(line);
  }
}

Log::Text& Log::Text::append(std::string_view part) {
  for (const char character : part) {
    if (line.view().size() == line_capacity) wrap();
    line.append(character);
  }
  return *this;
}

// Between two words, unless one alone fills the line.
void Log::Text::wrap() {
  constexpr std::string_view indent = "  ";
  const Line full = line;
  std::size_t end = full.view().rfind(' ');
  if (end == std::string_view::npos || end < indent.size()) end = line_capacity;
  line = Line();
  log.commit(level, line.append(full.view().substr(0, end)));
  line = Line();
  line.append(indent).append(full.view().substr(end + (end < line_capacity ? 1 : 0)));
}

void Log::commit(LogLevel level, const Line& line) {
  if (panicking_) return send(level, line.view());
  const InterruptsOff quiet;  // a handler that logs on this CPU would wait for us
  lock_.lock();
  kept_[written_ % kept_lines] = line;
  ++written_;
  send(level, line.view());
  lock_.unlock();
}

}  // namespace ingot::os
