// FakeDriver: a table of functions that tests play, which count, fail when they are told to, and know what they gave
// and did not get back. Calls that need a context fail unless the context was entered just before.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "machine/gpu/cuda/driver.h"

namespace ingot {

class FakeDriver {
 public:
  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  // Its functions play this driver, of which there is one at a time.
  cuda::Driver driver() const;
  // As dlsym would: null for the name that is missing.
  void* lookup(const char* symbol, std::string_view missing = "") const;

  // What it is.
  int version = 13000;
  int devices = 2;
  int capability = 90;
  int shared_bytes_of_block = 227 << 10;
  std::size_t granule = 2 << 20;
  std::size_t total_bytes = std::size_t{1} << 34;
  std::size_t free_bytes = 1000;  // as it says; what it gives is bounded by the total alone

  // What fails: the call of this number, counted from 1, or every call of a symbol after the first `fail_after` ones.
  int fail_at = 0;
  std::string fail_symbol;
  int fail_after = 0;
  cuda::Status fail_with = cuda::Status{700};

  // Called before every call is answered.
  std::function<void(std::string_view symbol)> before;

  // What happened.
  std::vector<std::string> calls;
  std::vector<std::string> launches;  // "rows 4x1x1x32+0", "graph", with " early" behind
  std::vector<std::uint8_t> last_parameters;
  int parameter_bytes = 0;                    // how many of the next launches' it keeps
  std::vector<std::string> mistakes;          // what was given back twice, or never given
  std::map<std::uint64_t, std::string> live;  // what was given and not given back
  std::map<std::uint64_t, std::size_t> mapped;
  std::map<std::uint64_t, std::size_t> device_memory;  // bytes of what was allocated, and not mapped
  std::size_t device_bytes = 0;                        // of both
  std::size_t most_device_bytes = 0;                   // at once

  int count(std::string_view symbol) const;

  // For the functions.
  std::uint64_t give(std::string kind);
  void take(std::uint64_t handle, std::string_view kind);
  void count_memory(std::size_t bytes);
  bool fails(const char* symbol);
  bool has_context(const char* symbol);
  std::uint64_t context = 0;  // the one that was entered

 private:
  std::uint64_t next_ = 1;
};

}  // namespace ingot
