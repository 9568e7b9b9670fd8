// Exchange: one request and its answer. Whoever answers need not be the thread that was asked, nor do so at once.
#pragma once

#include <functional>
#include <string_view>

#include "server/http/message.h"

namespace ingot::http {

// How a stream's reader keeps up.
enum class Pace : std::uint8_t {
  full,    // more waits to be sent than should: write no more
  drains,  // there is room again
  gone,    // nobody reads it any more, and nobody will
};

// Its functions may be called from any thread, and none of them waits. An exchange that is let go of without an answer
// is answered with 500; a stream that is let go of without its end is cut off, so that the client can tell.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual const Request& request() const = 0;

  // Either this, once ...
  virtual void answer(Answer answer) = 0;
  // ... or these: a head whose body comes in pieces, the pieces, the end. `ping` is sent when nothing else was for a
  // while.
  virtual void begin_stream(Answer head, std::string_view ping) = 0;
  virtual void write(std::string_view piece) = 0;
  virtual void end_stream() = 0;

  // Called on the loop's thread when the pace changes; Pace::gone is the last call, and comes at once where the client
  // has left before this. Nothing is called any more once the answer is complete.
  virtual void on_pace(std::function<void(Pace)> listener) = 0;
};

}  // namespace ingot::http
