#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "machine/feature_detection.h"

namespace ingot {
namespace {

constexpr std::uint32_t bit(int position) { return std::uint32_t{1} << position; }

// An imaginary server that has everything, on a system that enables everything.
X86FeatureWords full_server() {
  X86FeatureWords words;
  words.leaf1_ecx = bit(1) | bit(9) | bit(12) | bit(19) | bit(20) | bit(25) | bit(27) | bit(28) | bit(29);
  words.leaf7_ebx = bit(3) | bit(5) | bit(8) | bit(16) | bit(17) | bit(28) | bit(30) | bit(31);
  words.leaf7_ecx = bit(11);
  words.leaf7_edx = bit(22) | bit(23) | bit(24) | bit(25);
  words.leaf7_subleaf1_eax = bit(4) | bit(5);
  words.extended1_ecx = bit(5);
  words.xcr0 = bit(0) | bit(1) | bit(2) | bit(5) | bit(6) | bit(7) | bit(17) | bit(18);
  words.tile_permission = true;
  return words;
}

constexpr FeatureSet vector_512{Feature::avx512, Feature::avx512_vnni, Feature::avx512_bf16, Feature::avx512_fp16};
constexpr FeatureSet tiles{Feature::amx_int8, Feature::amx_bf16};
constexpr FeatureSet vector_256{Feature::avx2, Feature::avx_vnni};

TEST(Features, EveryFeatureHasItsOwnNameAndOneArchitecture) {
  std::set<std::string_view> names;
  for (int index = 0; index < feature_count; ++index) names.insert(name_of(static_cast<Feature>(index)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(feature_count));
  EXPECT_FALSE(names.contains("unknown feature"));
  EXPECT_EQ(architecture_of(Feature::sse4), Architecture::x86_64);
  EXPECT_EQ(architecture_of(Feature::amx_bf16), Architecture::x86_64);
  EXPECT_EQ(architecture_of(Feature::neon), Architecture::aarch64);
  EXPECT_EQ(architecture_of(Feature::sve), Architecture::aarch64);
  EXPECT_EQ(architecture_of(Feature::sm_80), Architecture::cuda);
  EXPECT_EQ(architecture_of(Feature::sm_90a), Architecture::cuda);
}

TEST(Features, TheHostHasNoneOfAnotherArchitecture) {
  const FeatureSet features = detect_features();
  for (int index = 0; index < feature_count; ++index) {
    const auto feature = static_cast<Feature>(index);
    EXPECT_TRUE(architecture_of(feature) == built_architecture || !features.contains(feature)) << name_of(feature);
  }
}

TEST(Features, FullServerHasEveryX86Feature) {
  FeatureSet features = features_from(full_server());
  for (int index = 0; index < feature_count; ++index) {
    auto feature = static_cast<Feature>(index);
    EXPECT_EQ(features.contains(feature), architecture_of(feature) == Architecture::x86_64) << name_of(feature);
  }
}

TEST(Features, ReportedButNotEnabledDoesNotCount) {
  FeatureSet all = features_from(full_server());
  for (int state : {5, 6, 7}) {  // opmask, and either part of the ZMM registers
    X86FeatureWords words = full_server();
    words.xcr0 &= ~std::uint64_t{bit(state)};
    EXPECT_EQ(features_from(words), all.without(vector_512)) << "XCR0 bit " << state;
  }
  for (int state : {17, 18}) {
    X86FeatureWords words = full_server();
    words.xcr0 &= ~std::uint64_t{bit(state)};
    EXPECT_EQ(features_from(words), all.without(tiles)) << "XCR0 bit " << state;
  }
  X86FeatureWords no_ymm = full_server();
  no_ymm.xcr0 &= ~std::uint64_t{bit(2)};
  EXPECT_EQ(features_from(no_ymm), all.without(vector_512).without(vector_256));

  X86FeatureWords no_permission = full_server();
  no_permission.tile_permission = false;
  EXPECT_EQ(features_from(no_permission), all.without(tiles));
}

TEST(Features, WithoutOsxsaveOnlySse4Counts) {
  X86FeatureWords words = full_server();
  words.leaf1_ecx &= ~bit(27);
  EXPECT_EQ(features_from(words), FeatureSet{Feature::sse4});
}

TEST(Features, ALevelNeedsEachOfItsParts) {
  for (int part : {1, 9, 19, 20, 25}) {
    X86FeatureWords words = full_server();
    words.leaf1_ecx &= ~bit(part);
    EXPECT_TRUE(features_from(words).empty()) << "leaf 1 ECX bit " << part;
  }
  auto expect_no_avx2 = [](const X86FeatureWords& words) {
    EXPECT_FALSE(features_from(words).contains(Feature::avx2));
    EXPECT_FALSE(features_from(words).contains(Feature::avx512));
    EXPECT_TRUE(features_from(words).contains(Feature::sse4));
  };
  for (int part : {12, 28, 29}) {
    X86FeatureWords words = full_server();
    words.leaf1_ecx &= ~bit(part);
    expect_no_avx2(words);
  }
  for (int part : {3, 5, 8}) {
    X86FeatureWords words = full_server();
    words.leaf7_ebx &= ~bit(part);
    expect_no_avx2(words);
  }
  X86FeatureWords no_lzcnt = full_server();
  no_lzcnt.extended1_ecx = 0;
  expect_no_avx2(no_lzcnt);
  for (int part : {16, 17, 28, 30, 31}) {
    X86FeatureWords words = full_server();
    words.leaf7_ebx &= ~bit(part);
    EXPECT_TRUE(features_from(words).contains(Feature::avx2)) << "leaf 7 EBX bit " << part;
    EXPECT_FALSE(features_from(words).contains(Feature::avx512)) << "leaf 7 EBX bit " << part;
    EXPECT_FALSE(features_from(words).contains(Feature::avx512_vnni)) << "leaf 7 EBX bit " << part;
  }
}

TEST(Features, Aarch64FollowsHwcap) {
  auto from = [](std::uint64_t hwcap, std::uint64_t hwcap2) {
    return features_from(Aarch64FeatureWords{.hwcap = hwcap, .hwcap2 = hwcap2});
  };
  EXPECT_TRUE(from(0, ~std::uint64_t{0}).empty());
  EXPECT_EQ(from(bit(1), 0), FeatureSet{Feature::neon});           // Cortex-A72
  EXPECT_EQ(from(bit(1) | bit(9), 0), FeatureSet{Feature::neon});  // scalar half precision alone is not enough
  EXPECT_EQ(from(bit(1) | bit(9) | bit(10) | bit(20), 0),
            (FeatureSet{Feature::neon, Feature::dotprod}));  // Neoverse N1 sums no halves in single precision
  EXPECT_EQ(from(bit(1) | bit(9) | bit(10) | bit(20) | bit(22) | bit(23), bit(13) | bit(14)),
            (FeatureSet{Feature::neon, Feature::fp16, Feature::dotprod, Feature::sve, Feature::i8mm,
                        Feature::bf16}));  // Neoverse V1
}

#if defined(__x86_64__)
TEST(Features, DetectionAgreesWithTheCompilersOwn) {
  FeatureSet features = detect_features();
  EXPECT_EQ(features.contains(Feature::avx2), __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  EXPECT_EQ(features.contains(Feature::avx512),
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"));
  EXPECT_EQ(features.contains(Feature::avx512_vnni), static_cast<bool>(__builtin_cpu_supports("avx512vnni")));
}
#endif

}  // namespace
}  // namespace ingot
