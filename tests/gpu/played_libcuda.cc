// libcuda.so.1 for tests of whole programs: the fake driver of machine/gpu/cuda, under the names that the real one
// exports. It computes nothing: launches succeed and write nothing, copies copy nothing. What it is and where it fails
// is said by the environment:
//
//   INGOT_PLAYED_LIBCUDA="devices=2 version=12020 capability=75 free=1000 total=2000 fail=cuInit status=700"
//
// A function that may be called so often before it fails: fail=cuMemAlloc_v2 after=3. interrupt=SYMBOL sends Ctrl-C
// when that is first called. When memory is taken to upload weights, shorten=PATH makes a file shorter; what fails only
// when that is given back is later=SYMBOL. When the device is let go, tell=PATH writes there the most bytes of its
// memory that were taken at once.
#include <unistd.h>

#include <bit>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "machine/gpu/cuda/fake_driver.h"

namespace {

std::function<void(std::string_view)> before_first(std::string awaited, std::function<void()> action) {
  return [awaited = std::move(awaited), action = std::move(action), is_done = false](std::string_view symbol) mutable {
    if (is_done || symbol != awaited) return;
    is_done = true;
    action();
  };
}

ingot::FakeDriver& played() {
  static ingot::FakeDriver* const driver = [] {
    auto* const made = new ingot::FakeDriver;  // for as long as the process: as the real one, it is never closed
    made->free_bytes = made->total_bytes;
    const char* const settings = std::getenv("INGOT_PLAYED_LIBCUDA");
    std::istringstream words(settings == nullptr ? "" : settings);
    for (std::string word; words >> word;) {
      const std::string name = word.substr(0, word.find('='));
      const std::string value = word.substr(name.size() + 1);
      if (name == "devices") made->devices = std::stoi(value);
      if (name == "version") made->version = std::stoi(value);
      if (name == "capability") made->capability = std::stoi(value);
      if (name == "total") made->total_bytes = std::stoull(value);
      if (name == "free") made->free_bytes = std::stoull(value);
      if (name == "fail") made->fail_symbol = value;
      if (name == "after") made->fail_after = std::stoi(value);
      if (name == "interrupt") made->before = before_first(value, [] { std::raise(SIGINT); });
      if (name == "later") {
        made->before = before_first("cuMemFreeHost", [made, value] { made->fail_symbol = value; });
      }
      if (name == "tell") {
        made->before = before_first("cuDevicePrimaryCtxRelease_v2",
                                    [made, value] { std::ofstream(value) << made->most_device_bytes; });
      }
      if (name == "shorten") {
        made->before = before_first("cuMemHostAlloc", [value] {
          if (::truncate(value.c_str(), 4096) != 0) std::abort();
        });
      }
      if (name == "status") made->fail_with = ingot::cuda::Status{std::stoi(value)};
    }
    return made;
  }();
  return *driver;
}

}  // namespace

// The loader asks who stands behind a name: there is no need to write all parameters of all functions again.
using AnyFunction = void();
#define INGOT_CUDA_ENTRY(name, symbol, ...)                                                                    \
  extern "C" AnyFunction* resolve_##symbol() { return std::bit_cast<AnyFunction*>(played().lookup(#symbol)); } \
  extern "C" [[gnu::visibility("default"), gnu::ifunc("resolve_" #symbol)]] void symbol();
INGOT_CUDA_FUNCTIONS(INGOT_CUDA_ENTRY)
#undef INGOT_CUDA_ENTRY
