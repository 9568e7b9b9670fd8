// Any text is a script or is refused with a place; a script that is read can be run to a verdict.
#include <cstdlib>
#include <memory>

#include "tests/network/replaying_stack.h"
#include "tests/network/runner.h"
#include "tests/network/script_reader.h"

using namespace ingot;
using namespace ingot::network_scripts;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Result<Script> script = read_script(text, {"STANDARD"});
  if (!script.ok()) {
    if (script.error().text().find(": expected ") == std::string_view::npos) std::abort();
    return 0;
  }
  (void)run_script(script.value(), [&](const Environment& place) {
    return std::make_unique<ReplayingStack>(script.value(), place, ReplayChanges{});
  });
  return 0;
}
