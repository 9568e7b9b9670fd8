#include "machine/peaks.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

#include "machine/peak_loops.h"
#include "machine/peaks_cache.h"

namespace ingot {
namespace {

Machine imaginary_machine() {
  Machine machine;
  machine.cpu_model = "Imaginary 9000";
  machine.features = {Feature::neon, Feature::dotprod};
  return machine;
}

constexpr Peaks some_peaks{.read_bytes_per_second = 1.1e10,
                           .write_bytes_per_second = 0.7e10,
                           .copy_bytes_per_second = 1.0 / 3 * 1e11,
                           .cache_read_bytes_per_second = 3e11,
                           .fma_flops = 1.5e11,
                           .int8_dot_operations = 6e11,
                           .int8_matrix_operations = 1.2e12,
                           .bf16_flops = 3e11,
                           .threads = 1};

// Measurements as a function pointer have no state, so counting them needs this one.
int measurements = 0;
Peaks count_measurement(const Machine&, Workers&) {
  ++measurements;
  return some_peaks;
}
Peaks fail_measurement(const Machine&, Workers&) { return Peaks{.threads = 1}; }

class PeaksCache : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ingot-peaks-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root = name;
    folder = root + "/cache/ingot";
    measurements = 0;
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) found.push_back(entry.path());
    return found;
  }
  Result<Peaks> ask() { return cached_peaks_in(folder, imaginary_machine(), *workers, count_measurement); }

  std::string root, folder;
  std::unique_ptr<Workers> workers = Workers::create({.threads = 1}).value();
};

TEST_F(PeaksCache, TextRoundTripsExactly) {
  std::string key = peaks_key(imaginary_machine(), 1);
  Peaks peaks = some_peaks;
  peaks.load = 0.37;
  EXPECT_EQ(parse_peaks(format_peaks(key, peaks), key), peaks);
}

TEST_F(PeaksCache, KeyTellsMachinesApart) {
  Machine machine = imaginary_machine();
  std::string key = peaks_key(machine, 1);
  EXPECT_NE(key, peaks_key(machine, 2));
  machine.features.insert(Feature::i8mm);
  EXPECT_NE(key, peaks_key(machine, 1));
  machine = imaginary_machine();
  machine.cpu_model = "Imaginary 9001";
  EXPECT_NE(key, peaks_key(machine, 1));
}

TEST_F(PeaksCache, EveryPrefixAndEveryForeignTextIsRejected) {
  std::string key = peaks_key(imaginary_machine(), 1);
  std::string text = format_peaks(key, some_peaks);
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_EQ(parse_peaks(std::string_view(text).substr(0, length), key), std::nullopt) << length;
  }
  EXPECT_EQ(parse_peaks(text + "more\n", key), std::nullopt);
  EXPECT_EQ(parse_peaks(text, peaks_key(imaginary_machine(), 2)), std::nullopt);
  for (double rate :
       {0.0, -1e9, 1e30, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Peaks peaks = some_peaks;
    peaks.fma_flops = rate;
    EXPECT_EQ(parse_peaks(format_peaks(key, peaks), key), std::nullopt) << rate;
  }
}

TEST_F(PeaksCache, MeasuresOnceAndRemembers) {
  EXPECT_EQ(ask().value(), some_peaks);
  EXPECT_EQ(ask().value(), some_peaks);
  EXPECT_EQ(measurements, 1);
  EXPECT_EQ(files().size(), 1u) << "a temporary file was left behind";
}

// What others took of a first measurement comes back by a second one; and a second one cannot take anything away.
TEST_F(PeaksCache, MeasuredAgainTheLargerRatesStay) {
  const auto measure_busy = [](const Machine&, Workers&) {
    Peaks busy = some_peaks;
    busy.read_bytes_per_second /= 2;
    busy.bf16_flops *= 2;
    busy.load = 3;
    return busy;
  };
  const auto measured_again = [&](MeasurePeaks measure) {
    return peaks_measured_again_in(folder, imaginary_machine(), *workers, measure).value();
  };
  Peaks larger = some_peaks;
  larger.bf16_flops *= 2;
  EXPECT_TRUE(measured_again(measure_busy).is_disturbed());
  EXPECT_TRUE(ask().value().is_disturbed()) << "it was remembered without its load";
  EXPECT_EQ(measured_again(count_measurement), larger);
  EXPECT_FALSE(ask().value().is_disturbed());
  EXPECT_EQ(measured_again(measure_busy), larger);
  EXPECT_EQ(ask().value(), larger);
}

TEST_F(PeaksCache, WhatWasMeasuredTooHighCanBeForgotten) {
  const auto measure_glitch = [](const Machine&, Workers&) {
    Peaks glitch = some_peaks;
    glitch.fma_flops *= 100;
    return glitch;
  };
  ASSERT_TRUE(peaks_measured_again_in(folder, imaginary_machine(), *workers, measure_glitch).ok());
  EXPECT_NE(ask().value(), some_peaks);
  ASSERT_TRUE(forget_peaks_in(folder).ok());
  EXPECT_TRUE(files().empty());
  EXPECT_EQ(ask().value(), some_peaks);
  EXPECT_TRUE(forget_peaks_in(folder + "/none").ok());
  EXPECT_TRUE(forget_peaks_in("").ok());
}

TEST_F(PeaksCache, ACorruptFileIsMeasuredAgainAndReplaced) {
  ASSERT_TRUE(ask().ok());
  std::ofstream(files().front(), std::ios::trunc) << "ingot peaks 1\nkey: somebody else\n";
  EXPECT_EQ(ask().value(), some_peaks);
  EXPECT_EQ(measurements, 2);
  EXPECT_TRUE(ask().ok());
  EXPECT_EQ(measurements, 2) << "the corrupt file was not replaced";
}

TEST_F(PeaksCache, AFolderThatCannotBeWrittenIsNoError) {
  std::ofstream(root + "/cache") << "a file where a folder should be";
  EXPECT_EQ(ask().value(), some_peaks);
  EXPECT_EQ(cached_peaks_in("", imaginary_machine(), *workers, count_measurement).value(), some_peaks);
}

TEST_F(PeaksCache, AFailedMeasurementIsAnErrorAndIsNotRemembered) {
  Result<Peaks> got = cached_peaks_in(folder, imaginary_machine(), *workers, fail_measurement);
  ASSERT_FALSE(got.ok());
  EXPECT_FALSE(std::filesystem::exists(folder));
}

// Gives an environment variable back as it was.
class KeptVariable {
 public:
  explicit KeptVariable(const char* name) : name_(name) {
    if (const char* value = getenv(name)) value_ = value;
  }
  ~KeptVariable() { value_ ? setenv(name_, value_->c_str(), 1) : unsetenv(name_); }
  KeptVariable(const KeptVariable&) = delete;
  KeptVariable& operator=(const KeptVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> value_;
};

TEST_F(PeaksCache, FolderFollowsXdgAndIgnoresRelativePaths) {
  KeptVariable home("HOME"), cache("XDG_CACHE_HOME");
  setenv("HOME", "/home/someone", 1);
  setenv("XDG_CACHE_HOME", "/var/cache/someone", 1);
  EXPECT_EQ(default_peaks_folder(), "/var/cache/someone/ingot");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(default_peaks_folder(), "/home/someone/.cache/ingot");
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(default_peaks_folder(), "");
}

// A smaller machine's loops run on this one, so every level that this machine can run is checked, not only its best.
TEST(PeakLoops, EveryLevelThatRunsHereComputes) {
  FeatureSet here = Machine::detect().features;
  for (FeatureSet level :
       {FeatureSet{}, FeatureSet{Feature::avx2}, FeatureSet{Feature::avx2, Feature::avx_vnni},
        FeatureSet{Feature::avx2, Feature::avx512}, FeatureSet{Feature::avx2, Feature::avx512, Feature::avx512_vnni},
        FeatureSet{Feature::avx2, Feature::avx512, Feature::avx512_bf16}, FeatureSet{Feature::dotprod},
        FeatureSet{Feature::dotprod, Feature::i8mm}, FeatureSet{Feature::bf16}, here}) {
    if (!here.contains_all(level)) continue;
    double fma = best_fma_loop(level).run(100);
    EXPECT_GT(fma, 1);
    EXPECT_LT(fma, 200);
    // Ten chains are the fewest any set has. They stay at one, or add whole sums of products of ones.
    for (ComputeLoop loop : {best_int8_dot_loop(level), best_int8_matrix_loop(level), best_bf16_loop(level)}) {
      const double sum = loop.run(100);
      EXPECT_GE(sum, 10);
      EXPECT_EQ(std::fmod(sum, 1), 0);
    }
    StreamLoops loops = best_stream_loops(level);
    alignas(64) std::byte from[2 * stream_block] = {}, to[2 * stream_block] = {};
    loops.write(from, sizeof from);
    loops.copy(from, to, sizeof from);
    EXPECT_TRUE(std::equal(std::begin(from), std::end(from), std::begin(to)));
    EXPECT_EQ(std::count(std::begin(from), std::end(from), std::byte{0}), 0);
    EXPECT_NE(loops.read(from, sizeof from), 0u);
  }
}

TEST(Peaks, MeasuredRatesArePositive) {
  Machine machine = Machine::detect();
  machine.caches.clear();  // a small buffer keeps the test quick
  machine.caches.push_back({3, CacheKind::unified, Bytes(4 << 20)});
  auto workers = Workers::create({.threads = 2});
  ASSERT_TRUE(workers.ok());
  Peaks peaks = measure_peaks(machine, *workers.value());
  EXPECT_EQ(peaks.threads, 2);
  for (double rate : {peaks.read_bytes_per_second, peaks.write_bytes_per_second, peaks.copy_bytes_per_second,
                      peaks.cache_read_bytes_per_second, peaks.fma_flops, peaks.int8_dot_operations,
                      peaks.int8_matrix_operations, peaks.bf16_flops}) {
    EXPECT_GT(rate, 1e6);
  }
}

}  // namespace
}  // namespace ingot
