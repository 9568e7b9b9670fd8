// A machine's ports as tests invent them: each test says what a port answers, and sees what was written in order.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "os/arch/arch.h"

namespace ingot::os {

class FakePorts : public arch::hosted::Ports {
 public:
  using Write = std::tuple<std::uint16_t, std::uint32_t, unsigned>;  // port, value, bytes

  FakePorts() { arch::hosted::thread.ports = this; }
  ~FakePorts() { arch::hosted::thread.ports = nullptr; }

  // The answers of a port, one a read; the last one stays.
  std::map<std::uint16_t, std::deque<std::uint32_t>> answers;
  std::vector<Write> writes;

  std::uint32_t read(std::uint16_t port, unsigned width) override {
    std::deque<std::uint32_t>& left = answers[port];
    if (left.empty()) return ~0u;
    const std::uint32_t value = left.front();
    if (left.size() > 1) left.pop_front();
    return width == 4 ? value : value & ((1u << (8 * width)) - 1);
  }
  void write(std::uint16_t port, std::uint32_t value, unsigned width) override {
    writes.push_back({port, value, width});
  }
};

}  // namespace ingot::os
