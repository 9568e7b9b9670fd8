// /dev: null, zero, full, random and urandom, and a place for devices that others bring: the terminal.
#pragma once

#include <span>

#include "os/file/memory_directory.h"

namespace ingot::os {

class RandomSource {
 public:
  virtual void fill(std::span<std::byte> bytes) = 0;
  // As many as the transfer takes.
  Answer<std::size_t> give(Transfer& to);

 protected:
  ~RandomSource() = default;
};

// A driver that makes descriptions; `node` is the file that was opened, for their status. It outlives the tree.
class DeviceOpener {
 public:
  virtual Answer<Reference<FileDescription>> open(Node& node, std::uint32_t flags) = 0;

 protected:
  ~DeviceOpener() = default;
};

Answer<Reference<Node>> make_device_file(Reference<Volume> volume, DeviceOpener& opener, std::uint64_t number,
                                         std::uint32_t permissions);

// The five, and the links that programs expect (fd, stdin, stdout, stderr).
Answer<void> add_dev_files(MemoryDirectory& directory, RandomSource& random);

}  // namespace ingot::os
