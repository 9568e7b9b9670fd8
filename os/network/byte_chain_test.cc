#include "os/network/byte_chain.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/siphash.h"
#include "os/network/wire/checksum.h"
#include "os/schedule/test_heap.h"

namespace ingot::os::network {
namespace {

class ByteChainTest : public ::testing::Test {
 protected:
  ByteChainTest() { heap_.left = 1 << 30; }

  void add(ByteChain& chain, const std::string& text, std::size_t before = 3, std::size_t behind = 5) {
    Reference<Block> block = blocks_.create(before + text.size() + behind).value();
    const std::span<std::byte> part = block->bytes().subspan(before, text.size());
    std::memcpy(part.data(), text.data(), text.size());
    ASSERT_TRUE(chain.add(std::move(block), part).ok());
  }
  static std::string text_of(const ByteChain& chain) {
    std::string text(chain.bytes(), '\0');
    if (!text.empty()) chain.copy_out(0, std::as_writable_bytes(std::span(text)));
    return text;
  }

  TestHeap heap_;
  HeapBlocks blocks_{heap_};
};

TEST_F(ByteChainTest, DoesWhatAStringDoesInAnyOrder) {
  std::mt19937 random(20260117);
  ByteChain chain(blocks_), other(blocks_);
  std::string text, other_text;
  for (int step = 0; step < 4000; ++step) {
    const std::size_t count = text.empty() ? 0 : random() % (text.size() + 1);
    switch (random() % 7) {
      case 0:
      case 1: {
        std::string more(random() % 40, static_cast<char>('a' + step % 26));
        add(chain, more);
        text += more;
        break;
      }
      case 2:
        chain.drop_front(count);
        text.erase(0, count);
        break;
      case 3:
        chain.drop_back(count);
        text.resize(text.size() - count);
        break;
      case 4:
        ASSERT_TRUE(chain.move_front(count, other).ok());
        other_text += text.substr(0, count);
        text.erase(0, count);
        break;
      case 5: {
        const std::span<std::byte> front = chain.front(count);
        ASSERT_EQ(front.size(), count);
        ASSERT_TRUE(count == 0 || std::memcmp(front.data(), text.data(), count) == 0);
        break;
      }
      case 6: {
        const std::size_t more = std::min<std::size_t>(chain.spare_room().size(), 4);
        std::fill_n(chain.spare_room().begin(), more, std::byte{'+'});
        if (more != 0) chain.grow_last(more);
        text.append(more, '+');
        break;
      }
    }
    ASSERT_EQ(text_of(chain), text) << step;
    ASSERT_EQ(text_of(other), other_text) << step;
    if (other_text.size() > 500) {
      chain.append(std::move(other));
      text += std::exchange(other_text, {});
    }
    if (text.size() > 2000) {
      chain.clear();
      text.clear();
      ASSERT_EQ(chain.held_bytes(), 0u);
    }
  }
}

TEST_F(ByteChainTest, SpareRoomIsNobodyElses) {
  ByteChain chain(blocks_), other(blocks_);
  add(chain, "abcdef");
  EXPECT_EQ(chain.spare_room().size(), 5u);
  ASSERT_TRUE(chain.move_front(2, other).ok());
  EXPECT_TRUE(chain.spare_room().empty()) << "the block is shared now";
}

TEST_F(ByteChainTest, NothingCanBeAskedOfAnEmptyChain) {
  const ByteChain chain(blocks_);
  chain.visit(0, 0, [](Block&, std::span<std::byte>) { FAIL(); });
}

TEST_F(ByteChainTest, WithoutMemoryAChainStaysAsItWas) {
  ByteChain chain(blocks_), other(blocks_);
  add(chain, "abc");
  add(chain, "def");
  heap_.left = 0;
  EXPECT_FALSE(chain.move_front(1, other).ok());
  EXPECT_TRUE(chain.front(5).empty());
  EXPECT_EQ(text_of(chain), "abcdef");
  EXPECT_TRUE(other.is_empty());
}

TEST_F(ByteChainTest, GivesPartsToATransfer) {
  ByteChain chain(blocks_);
  add(chain, "abc");
  add(chain, "defgh");
  std::string to(4, '.');
  KernelTransfer transfer(std::as_bytes(std::span(to)));
  EXPECT_EQ(chain.give(transfer, 2, 100).value(), 4u);
  EXPECT_EQ(to, "cdef");
}

TEST(ChecksumTest, IsTheSumOfWordsHoweverItIsCut) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint8_t> bytes(random() % 200);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(round % 3 == 0 ? 0xff : random());
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) sum += i % 2 == 0 ? bytes[i] << 8 : bytes[i];
    while (sum >> 16 != 0) sum = (sum >> 16) + (sum & 0xffff);
    Checksum checksum;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t count = std::min<std::size_t>(bytes.size() - at, 1 + random() % 50);
      checksum.add(std::as_bytes(std::span(bytes)).subspan(at, count));
      at += count;
    }
    ASSERT_EQ(checksum.folded(), sum) << round;
  }
}

// The vector of the paper's appendix A: the key 00 01 .. 0f, the bytes 00 01 .. 0e.
TEST(SipHashTest, GivesTheNumberOfThePaper) {
  std::array<std::byte, 15> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  EXPECT_EQ(siphash({0x0706050403020100, 0x0f0e0d0c0b0a0908}, bytes), 0xa129ca6149be45e5);
}

}  // namespace
}  // namespace ingot::os::network
