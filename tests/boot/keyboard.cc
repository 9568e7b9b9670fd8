// Keys that are pressed arrive as characters: from the interrupt over the decoding task to a task of ours.
//
// boot-test: success
// boot-test: machine q35
// boot-test: keys h shift-i 7 shift-1 ret
// boot-test: expect keyboard: ready
// boot-test: expect typed: hI7!
#include "os/boot/kernel.h"
#include "os/trace/panic.h"

namespace ingot::os {

namespace {

using Text = FixedText<32>;

Task<void> read_line(Allocator&, Keyboard& keyboard, Text& text, bool& done) {
  while (!done) {
    const Result<KeyEvent> event = co_await keyboard.events().receive();
    if (!event.ok()) panic(event.error());
    if (!event.value().pressed || event.value().character == 0) continue;
    done = event.value().character == '\n';
    if (!done) text.append(event.value().character);
  }
  co_return {};
}

}  // namespace

void run_payload(Kernel& kernel) {
  Keyboard* keyboard = kernel.devices.keyboard();
  if (keyboard == nullptr) panic("expected a keyboard, found none");
  Text text;
  bool done = false;
  Executor executor;
  const Result<void> spawned = Task<void>::spawn(executor, read_line(kernel.memory->heap(), *keyboard, text, done));
  if (!spawned.ok()) panic(spawned.error());
  kernel.log.information("waiting for keys");
  executor.run_until([&] { return done; });
  kernel.log.information("typed: ", text.view());
}

}  // namespace ingot::os
