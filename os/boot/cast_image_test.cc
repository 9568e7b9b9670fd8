#include "os/boot/cast_image.h"

#include <gtest/gtest.h>

namespace ingot::os {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

BootInfo machine_of_64_mib() {
  BootInfo info;
  EXPECT_TRUE(info.memory.add({PhysicalAddress(0), 64 * mebibyte, MemoryKind::usable}).ok());
  EXPECT_TRUE(info.memory.add({PhysicalAddress(mebibyte), mebibyte / 2, MemoryKind::kernel}).ok());
  return info;
}

ImageTable small_image() {
  ImageTable table;
  table.bundle = {mebibyte + mebibyte / 2, 5000};
  table.segment_count = 2;
  table.segments[0] = {2 * mebibyte, 3 * mebibyte + 17};
  table.segments[1] = {6 * mebibyte, 2 * mebibyte};
  return table;
}

TEST(CastImage, PartsBecomeModulesOfKindImage) {
  BootInfo info = machine_of_64_mib();
  ASSERT_TRUE(info.add_module({PhysicalAddress(32 * mebibyte), 100}).ok());  // the loader's own
  EXPECT_FALSE(info.image().has_value());
  const Result<void> added = add_cast_image(small_image(), info);
  ASSERT_TRUE(added.ok()) << added.error().text();
  ASSERT_TRUE(info.image().has_value());
  EXPECT_EQ(info.image()->bundle, (PhysicalRange{PhysicalAddress(mebibyte + mebibyte / 2), 5000}));
  ASSERT_EQ(info.image()->segments.size(), 2u);
  EXPECT_EQ(info.image()->segments[1], (PhysicalRange{PhysicalAddress(6 * mebibyte), 2 * mebibyte}));
  EXPECT_EQ(info.modules().size(), 4u);
  EXPECT_EQ(info.memory.bytes_of(MemoryKind::image), 100 + 5000 + 5 * mebibyte + 17);
}

TEST(CastImage, AKernelThatWasNotCastHasNone) {
  BootInfo info = machine_of_64_mib();
  EXPECT_TRUE(add_cast_image(ImageTable{}, info).ok());
  EXPECT_FALSE(info.image().has_value());
  EXPECT_EQ(ingot_image_table.bundle, ImagePart{});
}

TEST(CastImage, WrongTablesAreErrors) {
  const auto complaint = [](const ImageTable& table) {
    BootInfo info = machine_of_64_mib();
    const Result<void> added = add_cast_image(table, info);
    return added.ok() ? std::string() : std::string(added.error().text());
  };
  ImageTable table = small_image();
  table.segments[1].address = 62 * mebibyte + 4096;
  EXPECT_EQ(complaint(table), "image segment 1: expected an address at a multiple of 2097152, found 0x3e01000");
  table.segments[1] = {62 * mebibyte, 2 * mebibyte + 1};
  EXPECT_EQ(complaint(table),
            "image segment 1: expected 2048 KiB of free memory at 0x3e00000, found less: give the machine more memory "
            "than the image has bytes");
  table = small_image();
  table.segments[1].address = 4 * mebibyte;  // over the first
  EXPECT_NE(complaint(table), "");
  table = small_image();
  table.bundle.address = mebibyte;  // over the kernel
  EXPECT_NE(complaint(table), "");
  table = small_image();
  table.segments[0].bytes = ~std::uint64_t{0};
  EXPECT_NE(complaint(table), "");
  table.segments[0].bytes = 0;
  EXPECT_NE(complaint(table), "");
  table.segment_count = ImageTable::segment_capacity + 1;
  EXPECT_EQ(complaint(table), "expected at most 30 image segments, found 31");
}

}  // namespace
}  // namespace ingot::os
