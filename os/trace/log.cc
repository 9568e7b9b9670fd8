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
