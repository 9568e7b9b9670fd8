// The two forms of the gated delta rule are one function. Parity already holds every variant against the recurrent
// reference; here stand the properties that no single call can show: chunks may be cut anywhere, and a chunk's
// arithmetic equals the published recurrence written down once more, in another order and without its code.
#include "kernels/state/gated_delta_net.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "machine/machine.h"
#include "machine/workers.h"

namespace ingot {
namespace {

struct Sizes {
  std::int64_t time, key_heads, heads, keys, values;
};

struct Sequence : Sizes {
  std::vector<float> query, key, value, decay, beta, initial, y, final_state;

  Sequence(const Sizes& sizes, unsigned seed) : Sizes(sizes) {
    std::mt19937 generator(seed);
    auto uniform = [&](std::int64_t count, float low, float high) {
      std::uniform_real_distribution<float> distribution(low, high);
      std::vector<float> numbers(static_cast<std::size_t>(count));
      for (float& number : numbers) number = distribution(generator);
      return numbers;
    };
    const float bound = 1 / std::sqrt(static_cast<float>(keys));
    query = uniform(time * key_heads * keys, -1, 1);
    key = uniform(time * key_heads * keys, -bound, bound);
    value = uniform(time * heads * values, -2, 2);
    decay = uniform(time * heads, -0.3f, 0);
    beta = uniform(time * heads, 0, 1);
    initial = uniform(heads * keys * values, -1, 1);
    y.assign(value.size(), NAN);
    final_state.assign(initial.size(), NAN);
  }

  // The call for the tokens [begin, end), from `state` to final_state.
  GatedDeltaNet::Arguments arguments(std::int64_t begin, std::int64_t end, const std::vector<float>& state) {
    const std::int64_t count = end - begin;
    GatedDeltaNet::Arguments a;
    a.query = View<const float>(query.data() + begin * key_heads * keys, {1, count, key_heads, keys});
    a.key = View<const float>(key.data() + begin * key_heads * keys, {1, count, key_heads, keys});
    a.value = View<const float>(value.data() + begin * heads * values, {1, count, heads, values});
    a.decay = View<const float>(decay.data() + begin * heads, {1, count, heads});
    a.beta = View<const float>(beta.data() + begin * heads, {1, count, heads});
    a.initial_state = View<const float>(state.data(), {1, heads, keys, values});
    a.scale = 1 / std::sqrt(static_cast<float>(keys));
    a.y = View<float>(y.data() + begin * heads * values, {1, count, heads, values});
    a.final_state = View<float>(final_state.data(), {1, heads, keys, values});
    return a;
  }
};

class GatedDeltaNetTest : public testing::Test {
 protected:
  GatedDeltaNetTest() : workers_(std::move(Workers::create({.threads = 2})).value()) {}

  // Variants that run here and whose names contain a word.
  static std::vector<const Variant<GatedDeltaNet>*> variants(std::string_view word) {
    const Machine machine = Machine::detect();
    std::vector<const Variant<GatedDeltaNet>*> found;
    for (const auto& variant : GatedDeltaNet::variants()) {
      if (variant.run == nullptr || !machine.features.contains_all(variant.needs)) continue;
      if (variant.name.find(word) != std::string_view::npos) found.push_back(&variant);
    }
    return found;
  }

  void run(const Variant<GatedDeltaNet>& variant, const GatedDeltaNet::Arguments& a) {
    std::vector<std::byte> scratch(variant.scratch_bytes == nullptr ? 0 : variant.scratch_bytes(a, 2));
    Context context{*workers_, scratch};
    variant.run(a, context);
  }

  static void expect_near(const std::vector<float>& expected, const std::vector<float>& found, std::string_view name) {
    double largest = 0;
    for (float number : expected) largest = std::max(largest, std::fabs(double{number}));
    for (std::size_t index = 0; index < expected.size(); ++index) {
      ASSERT_NEAR(expected[index], found[index], 32 * 0x1p-23 * largest) << name << " element " << index;
    }
  }

  std::unique_ptr<Workers> workers_;
};

// S = alpha S (I - beta k k^T) + beta v k^T with S a [V, K] matrix, as a matrix product.
void published_recurrence(Sequence& sequence) {
  const std::int64_t keys = sequence.keys;
  const std::int64_t values = sequence.values;
  auto at = [](auto index) { return static_cast<std::size_t>(index); };
  for (std::int64_t head = 0; head < sequence.heads; ++head) {
    const std::int64_t shared = head / (sequence.heads / sequence.key_heads);
    std::vector<double> state(at(values * keys));
    for (std::int64_t i = 0; i < keys; ++i) {
      for (std::int64_t j = 0; j < values; ++j) {
        state[at(j * keys + i)] = sequence.initial[at((head * keys + i) * values + j)];
      }
    }
    for (std::int64_t t = 0; t < sequence.time; ++t) {
      const float* key = &sequence.key[at((t * sequence.key_heads + shared) * keys)];
      const float* query = &sequence.query[at((t * sequence.key_heads + shared) * keys)];
      const double alpha = std::exp(double{sequence.decay[at(t * sequence.heads + head)]});
      const double beta = sequence.beta[at(t * sequence.heads + head)];
      std::vector<double> next(state.size());
      for (std::int64_t j = 0; j < values; ++j) {
        const double value = sequence.value[at((t * sequence.heads + head) * values + j)];
        double read = 0;
        for (std::int64_t i = 0; i < keys; ++i) {
          double product = 0;
          for (std::int64_t l = 0; l < keys; ++l) {
            product += state[at(j * keys + l)] * ((l == i ? 1.0 : 0.0) - beta * key[l] * key[i]);
          }
          next[at(j * keys + i)] = alpha * product + beta * value * key[i];
          read += next[at(j * keys + i)] * query[i];
        }
        sequence.y[at((t * sequence.heads + head) * values + j)] =
            static_cast<float>(read / std::sqrt(static_cast<double>(keys)));
      }
      state = next;
    }
    for (std::int64_t i = 0; i < keys; ++i) {
      for (std::int64_t j = 0; j < values; ++j) {
        sequence.final_state[at((head * keys + i) * values + j)] = static_cast<float>(state[at(j * keys + i)]);
      }
    }
  }
}

TEST_F(GatedDeltaNetTest, EveryVariantEqualsThePublishedMatrixRecurrence) {
  for (std::int64_t time : {1, 9, 32, 47, 64, 131}) {
    Sequence expected({time, 1, 2, 12, 20}, 7);
    published_recurrence(expected);
    for (const auto* variant : variants("")) {
      Sequence found({time, 1, 2, 12, 20}, 7);
      const auto a = found.arguments(0, time, found.initial);
      if (variant->accepts != nullptr && !variant->accepts(a)) continue;
      run(*variant, a);
      expect_near(expected.y, found.y, variant->name);
      expect_near(expected.final_state, found.final_state, variant->name);
    }
  }
}

TEST_F(GatedDeltaNetTest, ChunkedEqualsRecurrentAtEveryLength) {
  const auto chunked = variants("chunked");
  ASSERT_FALSE(chunked.empty());
  const auto& reference = GatedDeltaNet::variants().back();
  for (std::int64_t time = 8; time <= 100; ++time) {
    Sequence expected({time, 2, 4, 16, 19}, static_cast<unsigned>(time));
    run(reference, expected.arguments(0, time, expected.initial));
    for (const auto* variant : chunked) {
      Sequence found({time, 2, 4, 16, 19}, static_cast<unsigned>(time));
      run(*variant, found.arguments(0, time, found.initial));
      expect_near(expected.y, found.y, variant->name);
      expect_near(expected.final_state, found.final_state, variant->name);
    }
  }
}

TEST_F(GatedDeltaNetTest, StateCarriesAcrossCallsCutAnywhere) {
  const std::int64_t time = 90;
  for (const auto* variant : variants("chunked")) {
    Sequence whole({time, 1, 2, 16, 24}, 3);
    run(*variant, whole.arguments(0, time, whole.initial));
    for (std::int64_t cut : {8, 31, 32, 33, 50, 80}) {
      Sequence parts({time, 1, 2, 16, 24}, 3);
      run(*variant, parts.arguments(0, cut, parts.initial));
      const std::vector<float> carried = parts.final_state;
      run(*variant, parts.arguments(cut, time, carried));
      expect_near(whole.y, parts.y, variant->name);
      expect_near(whole.final_state, parts.final_state, variant->name);
    }
  }
}

TEST_F(GatedDeltaNetTest, ForgettingEverythingIsNoSpecialCaseForChunks) {
  const std::int64_t time = 40;
  Sequence expected({time, 1, 1, 8, 8}, 5);
  expected.decay[20] = -INFINITY;  // alpha = 0
  Sequence found = expected;
  run(GatedDeltaNet::variants().back(), expected.arguments(0, time, expected.initial));
  for (const auto* variant : variants("chunked")) {
    run(*variant, found.arguments(0, time, found.initial));
    expect_near(expected.y, found.y, variant->name);
    expect_near(expected.final_state, found.final_state, variant->name);
  }
}

}  // namespace
}  // namespace ingot
