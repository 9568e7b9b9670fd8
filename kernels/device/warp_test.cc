#include "kernels/device/warp.h"

#include "kernels/device/block.h"
#include "kernels/device/emulated_run.h"

namespace ingot {
namespace {

template <class Value>
struct Reduced {
  const Value* in;
  Value* out;
  std::uint32_t what;
};
template <class Value>
struct FoundFirst {
  const Value* in;
  device::Indexed<Value>* out;
};

}  // namespace

namespace device {

template <class Value>
INGOT_ON_DEVICE Value shuffled(Value value, unsigned what) {
  switch (what) {
    case 0: return shuffle_xor(value, 5);
    case 1: return shuffle_up(value, 3);
    case 2: return shuffle_down(value, 7);
    default: return shuffle_index(value, (lane_index() * 11 + 4) % warp_size);
  }
}
INGOT_DEVICE_FUNCTION(shuffle_words, Reduced<std::uint32_t>, 64) {
  parameters.out[thread_index()] = shuffled(parameters.in[thread_index()], parameters.what);
}
INGOT_DEVICE_FUNCTION(shuffle_doubles, Reduced<double>, 64) {
  parameters.out[thread_index()] = shuffled(parameters.in[thread_index()], parameters.what);
}

INGOT_DEVICE_FUNCTION(vote, Reduced<std::uint32_t>, 64) {
  const bool is_odd = parameters.in[thread_index()] % 2 == 1;
  std::uint32_t* out = parameters.out + thread_index() * 4;
  out[0] = ballot(is_odd);
  out[1] = any_lane(is_odd) ? 1 : 0;
  out[2] = all_lanes(is_odd) ? 1 : 0;
  out[3] = count_ones(out[0]);
}

INGOT_DEVICE_FUNCTION(reduce_warps, Reduced<float>, 1024) {
  const float value = parameters.in[thread_index()];
  float* out = parameters.out + thread_index() * 4;
  out[0] = warp_sum(value);
  out[1] = warp_maximum(value);
  out[2] = warp_minimum(value);
  out[3] = warp_inclusive_scan(value);
}

INGOT_DEVICE_FUNCTION(reduce_block, Reduced<float>, 1024) {
  const float value = parameters.in[thread_index()];
  const Scanned<float> scanned = block_scan(value);
  float* out = parameters.out + thread_index() * 5;
  out[0] = block_sum(value);
  out[1] = block_maximum(value);
  out[2] = block_minimum(value);
  out[3] = scanned.inclusive;
  out[4] = scanned.total;
}

INGOT_DEVICE_FUNCTION(find_first, FoundFirst<float>, 1024) {
  const Indexed<float> mine = {parameters.in[thread_index()], static_cast<std::int32_t>(thread_index())};
  parameters.out[thread_index() * 2] = block_reduce(mine, FirstGreatest{});
  parameters.out[thread_index() * 2 + 1] = block_reduce(mine, FirstLeast{});
}

INGOT_DEVICE_FUNCTION(shuffle_apart, Reduced<float>, 32) {
  if (lane_index() < 16) parameters.out[0] = shuffle_xor(1.0f, 1);
}

}  // namespace device

namespace {

using Warp = EmulatedRun;

unsigned source_of(unsigned lane, unsigned what) {
  switch (what) {
    case 0: return lane ^ 5;
    case 1: return lane < 3 ? lane : lane - 3;
    case 2: return lane + 7 < 32 ? lane + 7 : lane;
    default: return (lane * 11 + 4) % 32;
  }
}

TEST_F(Warp, ShufflesTakeFromTheLaneThatIsNamed) {
  std::vector<std::uint32_t> words(64);
  std::vector<double> doubles(64);
  for (unsigned i = 0; i < 64; ++i) words[i] = static_cast<std::uint32_t>(doubles[i] = i * 3 + 1);
  for (std::uint32_t what = 0; what < 4; ++what) {
    std::vector<std::uint32_t> words_out(64);
    std::vector<double> doubles_out(64);
    run(INGOT_TESTED(shuffle_words), {.threads = 64}, words_out,
        Reduced<std::uint32_t>{words.data(), words_out.data(), what});
    run(INGOT_TESTED(shuffle_doubles), {.threads = 64}, doubles_out,
        Reduced<double>{doubles.data(), doubles_out.data(), what});
    for (unsigned i = 0; i < 64; ++i) {
      ASSERT_EQ(words_out[i], words[i / 32 * 32 + source_of(i % 32, what)]) << what;
      ASSERT_EQ(doubles_out[i], doubles[i / 32 * 32 + source_of(i % 32, what)]) << what;
    }
  }
}

TEST_F(Warp, VotesAreCounted) {
  for (const std::uint32_t pattern : {0x00000000u, 0xffffffffu, 0x80000001u, 0x12345678u}) {
    std::vector<std::uint32_t> in(64);
    std::vector<std::uint32_t> out(256);
    for (unsigned i = 0; i < 64; ++i) in[i] = (i < 32 ? pattern : ~pattern) >> i % 32 & 1;
    run(INGOT_TESTED(vote), {.threads = 64}, out, Reduced<std::uint32_t>{in.data(), out.data(), 0});
    for (unsigned i = 0; i < 64; ++i) {
      const std::uint32_t expected = i < 32 ? pattern : ~pattern;
      ASSERT_EQ(out[i * 4], expected);
      ASSERT_EQ(out[i * 4 + 1], expected != 0 ? 1u : 0u);
      ASSERT_EQ(out[i * 4 + 2], expected == 0xffffffffu ? 1u : 0u);
      ASSERT_EQ(out[i * 4 + 3], static_cast<std::uint32_t>(__builtin_popcount(expected)));
    }
  }
}

// Whole numbers, so that every order of additions gives the same.
std::vector<float> some_numbers(std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i * 7919 % 1013) - 500;
  return numbers;
}

struct Expected {
  float sum = 0;
  float greatest;
  float least;
  explicit Expected(std::span<const float> numbers) : greatest(numbers[0]), least(numbers[0]) {
    for (float number : numbers) {
      sum += number;
      greatest = std::max(greatest, number);
      least = std::min(least, number);
    }
  }
};

TEST_F(Warp, ReductionsAndScansReachEveryLane) {
  const std::vector<float> in = some_numbers(96);
  std::vector<float> out(96 * 4);
  run(INGOT_TESTED(reduce_warps), {.threads = 96}, out, Reduced<float>{in.data(), out.data(), 0});
  float running = 0;
  for (std::size_t i = 0; i < 96; ++i) {
    const Expected expected(std::span<const float>(in).subspan(i / 32 * 32, 32));
    running = i % 32 == 0 ? in[i] : running + in[i];
    ASSERT_EQ(out[i * 4], expected.sum);
    ASSERT_EQ(out[i * 4 + 1], expected.greatest);
    ASSERT_EQ(out[i * 4 + 2], expected.least);
    ASSERT_EQ(out[i * 4 + 3], running);
  }
}

TEST_F(Warp, ReductionsAndScansOfABlockReachEveryThread) {
  for (std::uint32_t threads : {32u, 64u, 160u, 1024u}) {
    const std::vector<float> in = some_numbers(threads);
    std::vector<float> out(std::size_t{threads} * 5);
    run(INGOT_TESTED(reduce_block), {.threads = threads}, out, Reduced<float>{in.data(), out.data(), 0});
    const Expected expected(in);
    float running = 0;
    for (std::size_t i = 0; i < threads; ++i) {
      running += in[i];
      ASSERT_EQ(out[i * 5], expected.sum);
      ASSERT_EQ(out[i * 5 + 1], expected.greatest);
      ASSERT_EQ(out[i * 5 + 2], expected.least);
      ASSERT_EQ(out[i * 5 + 3], running);
      ASSERT_EQ(out[i * 5 + 4], expected.sum);
    }
  }
}

TEST_F(Warp, AmongEqualsTheFirstIsFound) {
  std::vector<float> in(256, 0.0f);
  in[70] = in[71] = in[200] = 5;
  in[33] = in[255] = -5;
  std::vector<device::Indexed<float>> out(512);
  run(INGOT_TESTED(find_first), {.threads = 256}, out, FoundFirst<float>{in.data(), out.data()});
  for (std::size_t i = 0; i < 256; ++i) {
    ASSERT_EQ(out[i * 2].index, 70);
    ASSERT_EQ(out[i * 2].value, 5);
    ASSERT_EQ(out[i * 2 + 1].index, 33);
  }
}

TEST_F(Warp, HalfAWarpDoesNotShuffle) {
  float out = 0;
  const std::string text = failure(INGOT_TESTED(shuffle_apart), {.threads = 32}, Reduced<float>{nullptr, &out, 0});
  EXPECT_NE(text.find("expected all lanes of the warp at a shuffle, found that one has ended: thread 16"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace ingot
