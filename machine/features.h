// Features a variant may need, of the CPU or of a GPU. One of the CPU counts only when the CPU reports it and the
// operating system enabled it. Those of a GPU are the device's own (DeviceInformation): the machine never has them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace ingot {

enum class Architecture : std::uint8_t { x86_64, aarch64, cuda };

constexpr std::string_view name_of(Architecture architecture) {
  switch (architecture) {
    case Architecture::x86_64: return "x86_64";
    case Architecture::aarch64: return "aarch64";
    case Architecture::cuda: return "cuda";
  }
  return "unknown architecture";
}

#if defined(__x86_64__)
constexpr Architecture built_architecture = Architecture::x86_64;
#elif defined(__aarch64__)
constexpr Architecture built_architecture = Architecture::aarch64;
#else
#error "Ingot builds for x86_64 and aarch64"
#endif

enum class Feature : std::uint8_t {
  // x86_64: each level includes the instructions that Highway's target of that name needs.
  sse4,    // SSE4.2 with AES and CLMUL
  avx2,    // AVX2 with FMA, F16C, BMI2
  avx512,  // F, BW, CD, DQ, VL
  avx_vnni,
  avx512_vnni,
  avx512_bf16,
  avx512_fp16,
  amx_int8,  // tile state permitted by the operating system
  amx_bf16,
  // aarch64
  neon,
  fp16,
  dotprod,
  i8mm,
  bf16,
  sve,
  // cuda: instructions of a compute capability. Later chips have those of 8.0 and 8.9; those of 9.0a are 9.0's alone.
  sm_80,
  sm_89,
  sm_90a,
};
constexpr int feature_count = static_cast<int>(Feature::sm_90a) + 1;

std::string_view name_of(Feature feature);
Architecture architecture_of(Feature feature);

class FeatureSet {
 public:
  constexpr FeatureSet() = default;
  constexpr FeatureSet(std::initializer_list<Feature> features) {
    for (Feature feature : features) insert(feature);
  }
  constexpr void insert(Feature feature) { bits_ |= std::uint64_t{1} << static_cast<int>(feature); }
  constexpr bool contains(Feature feature) const { return (bits_ >> static_cast<int>(feature)) & 1; }
  constexpr bool contains_all(FeatureSet needs) const { return (bits_ & needs.bits_) == needs.bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr FeatureSet without(FeatureSet other) const {
    FeatureSet rest;
    rest.bits_ = bits_ & ~other.bits_;
    return rest;
  }
  constexpr bool operator==(const FeatureSet&) const = default;

  // As a number, for a program of the same protocol; bits of features that are not known here are left out.
  constexpr std::uint64_t bits() const { return bits_; }
  static constexpr FeatureSet of_bits(std::uint64_t bits) {
    FeatureSet made;
    made.bits_ = bits & ((std::uint64_t{1} << feature_count) - 1);
    return made;
  }

 private:
  std::uint64_t bits_ = 0;
};

}  // namespace ingot
