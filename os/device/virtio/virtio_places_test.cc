#include "os/device/virtio/virtio_places.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace ingot::os {
namespace {

TEST(VirtioPlaces, AreReadFromTheCommandLine) {
  VirtioPlaceWords words("serial virtio_mmio.device=4K@0xd0000000:5 x=1 -- run virtio_mmio.device=512@0xfeb00e00:12:3");
  EXPECT_EQ(words.next().value(), (VirtioPlace{PhysicalAddress(0xd0000000), 4096, 5}));
  EXPECT_EQ(words.next().value(), (VirtioPlace{PhysicalAddress(0xfeb00e00), 512, 12}));
  EXPECT_EQ(words.next().value(), std::nullopt);
  EXPECT_EQ(VirtioPlaceWords("").next().value(), std::nullopt);
}

TEST(VirtioPlaces, WordsThatCannotBeReadAreErrorsBehindWhichOneGoesOn) {
  for (const std::string_view word :
       {"", "512", "512@", "512@0xd0000000", "512@0xd0000000:", "512@0xd0000000:5x", "@0xd0000000:5",
        "512:0xd0000000@5", "255@0xd0000000:5", "2M@0xd0000000:5", "512@0xd0000002:5", "512@0xd0000000:1024",
        "512@0xfffffffffffffffc:5", "512@0xfffffffffffffffff:5", "0x@0xd0000000:5", "99999999999999999999@0xd0000000:5",
        "512@-1:5"}) {
    const std::string line = "virtio_mmio.device=" + std::string(word) + " virtio_mmio.device=512@4096:6";
    VirtioPlaceWords words(line);
    EXPECT_FALSE(words.next().ok()) << word;
    EXPECT_EQ(words.next().value(), (VirtioPlace{PhysicalAddress(4096), 512, 6})) << word;
  }
}

TEST(VirtioPlaces, OfMicrovmAreKnown) {
  std::vector<std::byte> table(276);
  EXPECT_FALSE(is_microvm({}));
  EXPECT_FALSE(is_microvm(table));
  std::memcpy(table.data() + 10, "BOCHS ", 6);
  EXPECT_FALSE(is_microvm(table));
  table[114] = std::byte{0x10};
  EXPECT_TRUE(is_microvm(table));
  EXPECT_FALSE(is_microvm(std::span(table).first(115)));
  table[10] = std::byte{'X'};
  EXPECT_FALSE(is_microvm(table));
  EXPECT_EQ(microvm_window(23), (VirtioPlace{PhysicalAddress(0xfeb02e00), 0x200, 47}));
}

}  // namespace
}  // namespace ingot::os
