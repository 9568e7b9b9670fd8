// A device's registers as tests see them: words that stay as written, and the writes in order.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "os/device/registers.h"

namespace ingot::os {

class FakeRegisters : public Registers {
 public:
  using Write = std::pair<std::uint32_t, std::uint32_t>;  // offset, value

  mutable std::map<std::uint32_t, std::uint32_t> words;
  std::vector<Write> writes;

  std::uint32_t read(std::uint32_t offset) const override { return words[offset]; }
  void write(std::uint32_t offset, std::uint32_t value) override {
    words[offset] = value;
    writes.push_back({offset, value});
  }
};

}  // namespace ingot::os
