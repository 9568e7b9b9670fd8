#include "kernels/device/memory.h"

#include "kernels/device/emulated_run.h"
#include "machine/gpu/emulated/sanitizers.h"

namespace ingot {
namespace {

struct Moved {
  const std::byte* from;
  std::byte* to;
  std::uint32_t bytes;
};
struct Counted {
  std::uint32_t* unsigned_sum;
  std::int32_t* signed_sum;
};

}  // namespace

namespace device {

INGOT_DEVICE_FUNCTION(copy_by_words, Moved, 32) {
  const std::byte* from = parameters.from;
  std::byte* to = parameters.to;
  switch (thread_index()) {
    case 0: store16(to, load16(from)); break;
    case 1: store16_streaming(to + 16, load16_streaming(from + 16)); break;
    case 2: store16(to + 32, load16_constant(from + 32)); break;
    case 3: store8(to + 48, load8(from + 48)); break;
    case 4:
      store_streaming(reinterpret_cast<float*>(to) + 14, load_streaming(reinterpret_cast<const float*>(from) + 14));
      break;
    case 5: reinterpret_cast<float*>(to)[15] = load_constant(reinterpret_cast<const float*>(from) + 15); break;
    default: prefetch(from);
  }
}

INGOT_DEVICE_FUNCTION(load_misaligned, Moved, 32) {
  if (thread_index() == 3) store16(parameters.to, load16(parameters.from + 8));
}

// Three buffers of 16 bytes a thread in three groups, of which two have come when one is waited for.
INGOT_DEVICE_FUNCTION(copy_in_groups, Moved, 32) {
  auto* buffers = dynamic_shared<Words16>();
  const unsigned first = thread_index() * 3;
  for (unsigned i = 0; i < 3; ++i) {
    copy_async16(buffers + first + i, parameters.from + (first + i) * 16);
    commit_copies();
  }
  wait_for_copies<1>();
  store16(parameters.to + thread_index() * 64, buffers[first]);
  store16(parameters.to + thread_index() * 64 + 16, buffers[first + 1]);
  store16(parameters.to + thread_index() * 64 + 48, buffers[first + 2]);
  wait_for_copies<0>();
  store16(parameters.to + thread_index() * 64 + 32, buffers[first + 2]);
}

INGOT_DEVICE_FUNCTION(copy_the_head, Moved, 32) {
  INGOT_SHARED Words16 buffers[32];
  INGOT_SHARED std::uint32_t words[32];
  copy_async16(buffers + thread_index(), parameters.from + thread_index() * 16, parameters.bytes);
  copy_async4(words + thread_index(), parameters.from + thread_index() * 16);
  commit_copies();
  wait_for_copies<0>();
  store16(parameters.to + thread_index() * 32, buffers[thread_index()]);
  store16(parameters.to + thread_index() * 32 + 16, {{words[thread_index()], 0, 0, 0}});
}

INGOT_DEVICE_FUNCTION(count_up, Counted, 64) {
  atomic_add(parameters.unsigned_sum, 1);
  atomic_add(parameters.signed_sum, -2);
  atomic_maximum(parameters.unsigned_sum + 1, thread_index());
  fence_device();
}

INGOT_DEVICE_FUNCTION(write_all, Moved, 1024) {
  const unsigned i = block_index() * thread_count() + thread_index();
  if (i <= parameters.bytes) parameters.to[i] = std::byte{1};  // one too many
}

}  // namespace device

namespace {

using DeviceMemoryWords = EmulatedRun;

struct alignas(16) Aligned {
  std::byte bytes[16];
};
std::byte* bytes_of(std::vector<Aligned>& words) { return words[0].bytes; }
std::vector<Aligned> counting(std::size_t count) {
  std::vector<Aligned> words(count);
  for (std::size_t i = 0; i < count * 16; ++i) words[i / 16].bytes[i % 16] = static_cast<std::byte>(i * 7 % 251);
  return words;
}

TEST_F(DeviceMemoryWords, EveryLoadAndStoreMovesItsBytes) {
  std::vector<Aligned> from = counting(4);
  std::vector<Aligned> to(4);
  run(INGOT_TESTED(copy_by_words), {.threads = 32}, to, Moved{bytes_of(from), bytes_of(to), 0});
  EXPECT_EQ(std::memcmp(bytes_of(from), bytes_of(to), 64), 0);
}

TEST_F(DeviceMemoryWords, AMisalignedLoadIsNamed) {
  std::vector<Aligned> from = counting(4);
  std::vector<Aligned> to(4);
  const std::string text =
      failure(INGOT_TESTED(load_misaligned), {.threads = 32}, Moved{bytes_of(from), bytes_of(to), 0});
  EXPECT_NE(text.find("thread 3: expected an address that is a multiple"), std::string::npos) << text;
}

// The third group may have come before it was waited for, or not: orders differ in that, and in nothing else.
TEST_F(DeviceMemoryWords, CopiesAreThereWhenTheirGroupWasWaitedFor) {
  std::vector<Aligned> from = counting(96);
  std::vector<Aligned> to(128);
  const auto all = in_all_orders(INGOT_TESTED(copy_in_groups), {.threads = 32, .shared_bytes = 32 * 48}, to,
                                 Moved{bytes_of(from), bytes_of(to), 0});
  std::size_t early = 0;
  std::size_t late = 0;
  for (const auto& each : all) {
    for (std::size_t thread = 0; thread < 32; ++thread) {
      ASSERT_EQ(std::memcmp(&each[thread * 4], &from[thread * 3], 48), 0);
      const Aligned& unawaited = each[thread * 4 + 3];
      early += std::memcmp(&unawaited, &from[thread * 3 + 2], 16) == 0 ? 1 : 0;
      late += unawaited.bytes[0] == std::byte{0xff} && unawaited.bytes[15] == std::byte{0xff} ? 1 : 0;
    }
  }
  EXPECT_EQ(early, 4u * 32);
  EXPECT_EQ(late, 4u * 32);
}

TEST_F(DeviceMemoryWords, ACopyOfFewerBytesEndsInZeros) {
  std::vector<Aligned> from = counting(32);
  for (std::uint32_t bytes : {0u, 5u, 16u}) {
    std::vector<Aligned> to(64);
    run(INGOT_TESTED(copy_the_head), {.threads = 32}, to, Moved{bytes_of(from), bytes_of(to), bytes});
    for (std::size_t i = 0; i < 32; ++i) {
      for (std::size_t byte = 0; byte < 16; ++byte) {
        ASSERT_EQ(to[i * 2].bytes[byte], byte < bytes ? from[i].bytes[byte] : std::byte{0});
        ASSERT_EQ(to[i * 2 + 1].bytes[byte], byte < 4 ? from[i].bytes[byte] : std::byte{0});
      }
    }
  }
}

TEST_F(DeviceMemoryWords, AtomicSumsCountEveryThread) {
  std::vector<std::uint32_t> sums = {0, 0};
  std::int32_t signed_sum = 0;
  run(INGOT_TESTED(count_up), {.blocks = 3, .threads = 64}, sums, Counted{sums.data(), &signed_sum});
  EXPECT_EQ(sums[0], 192u);
  EXPECT_EQ(sums[1], 63u);
  EXPECT_EQ(signed_sum, -2 * 192 * 8);
}

// A wrong tail: one element more than there are.
std::string write_one_too_many(std::uint32_t bytes) {
  const auto device = EmulatedDevice::create().value();
  const auto queue = device->make_queue().value();
  const ingot::DeviceMemory memory = device->allocate(bytes).value();
  const DeviceFunction function = INGOT_TESTED(write_all);
  queue->launch(function, {.blocks = bytes / 64 + 1, .threads = 64}, Moved{nullptr, memory.data(), bytes});
  const Result<void> result = queue->wait();
  return result.ok() ? "" : std::string(result.error().text());
}

using DeviceMemoryDeathTest = EmulatedRun;

TEST_F(DeviceMemoryDeathTest, AWriteBehindTheEndIsFound) {
  EXPECT_DEATH(write_one_too_many(256), "");
#if INGOT_ADDRESS_SANITIZER
  EXPECT_DEATH(write_one_too_many(200), "use-after-poison");
#else
  const std::string text = write_one_too_many(200);
  EXPECT_NE(text.find("write_all: expected nothing written behind the end of a piece of 200 bytes"), std::string::npos)
      << text;
#endif
}

}  // namespace
}  // namespace ingot
