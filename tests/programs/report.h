// What programs that test the kernel's memory share: its own counters.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/programs/check.h"

// A number of /proc/ingot/memory.
inline std::uint64_t counter(const std::string& name) {
  std::ifstream file("/proc/ingot/memory");
  std::string word;
  std::uint64_t number = 0;
  while (file >> word >> number) {
    if (word == name) return number;
  }
  std::printf("expected %s in /proc/ingot/memory, found none\n", name.c_str());
  std::exit(1);
}

// A number of /proc/self/status, in KiB or as it is.
inline std::uint64_t status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind(name + ":", 0) == 0) return std::strtoull(line.c_str() + name.size() + 1, nullptr, 10);
  }
  std::printf("expected %s in /proc/self/status, found none\n", name.c_str());
  std::exit(1);
}
