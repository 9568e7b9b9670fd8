#include "machine/feature_detection.h"

#include "machine/cpuid.h"

#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <sys/auxv.h>
#endif

namespace ingot {
namespace {

constexpr std::uint64_t bits(std::initializer_list<int> positions) {
  std::uint64_t mask = 0;
  for (int position : positions) mask |= std::uint64_t{1} << position;
  return mask;
}
constexpr bool has(std::uint64_t word, std::uint64_t mask) { return (word & mask) == mask; }

// Intel SDM volume 2A, CPUID: bit positions by register.
constexpr std::uint64_t leaf1_ecx_sse4 = bits({1, 9, 19, 20, 25});  // PCLMULQDQ SSSE3 SSE4.1 SSE4.2 AES
constexpr std::uint64_t leaf1_ecx_osxsave = bits({27});
constexpr std::uint64_t leaf1_ecx_avx2 = bits({12, 28, 29});            // FMA AVX F16C
constexpr std::uint64_t leaf7_ebx_avx2 = bits({3, 5, 8});               // BMI1 AVX2 BMI2
constexpr std::uint64_t extended1_ecx_avx2 = bits({5});                 // LZCNT
constexpr std::uint64_t leaf7_ebx_avx512 = bits({16, 17, 28, 30, 31});  // F DQ CD BW VL
constexpr std::uint64_t leaf7_ecx_avx512_vnni = bits({11});
constexpr std::uint64_t leaf7_edx_amx_bf16 = bits({22});
constexpr std::uint64_t leaf7_edx_avx512_fp16 = bits({23});
constexpr std::uint64_t leaf7_edx_amx_tile = bits({24});
constexpr std::uint64_t leaf7_edx_amx_int8 = bits({25});
constexpr std::uint64_t subleaf1_eax_avx_vnni = bits({4});
constexpr std::uint64_t subleaf1_eax_avx512_bf16 = bits({5});

// Intel SDM volume 1, 13.3: state components in XCR0.
constexpr std::uint64_t xcr0_avx = bits({1, 2});              // XMM, upper halves of YMM
constexpr std::uint64_t xcr0_avx512 = bits({1, 2, 5, 6, 7});  // and opmask, upper halves of ZMM0-15, ZMM16-31
constexpr std::uint64_t xcr0_tile = bits({17, 18});           // TILECFG, TILEDATA

bool tile_state_enabled(const X86FeatureWords& words) {
  return has(words.leaf1_ecx, leaf1_ecx_osxsave) && has(words.xcr0, xcr0_tile) &&
         has(words.leaf7_edx, leaf7_edx_amx_tile);
}

}  // namespace

FeatureSet features_from(const X86FeatureWords& words) {
  FeatureSet features;
  // XMM state needs no XCR0 check: every x86_64 system saves it, by FXSAVE where it lacks XSAVE.
  if (!has(words.leaf1_ecx, leaf1_ecx_sse4)) return features;
  features.insert(Feature::sse4);

  // Without OSXSAVE the operating system saves no wider registers, and XGETBV itself is undefined.
  if (!has(words.leaf1_ecx, leaf1_ecx_osxsave)) return features;

  // Tiles stand beside the vector levels: their state component is independent of AVX-512's.
  if (tile_state_enabled(words) && words.tile_permission) {
    if (has(words.leaf7_edx, leaf7_edx_amx_int8)) features.insert(Feature::amx_int8);
    if (has(words.leaf7_edx, leaf7_edx_amx_bf16)) features.insert(Feature::amx_bf16);
  }

  bool avx2 = has(words.xcr0, xcr0_avx) && has(words.leaf1_ecx, leaf1_ecx_avx2) &&
              has(words.leaf7_ebx, leaf7_ebx_avx2) && has(words.extended1_ecx, extended1_ecx_avx2);
  if (!avx2) return features;
  features.insert(Feature::avx2);
  if (has(words.leaf7_subleaf1_eax, subleaf1_eax_avx_vnni)) features.insert(Feature::avx_vnni);

  if (!has(words.xcr0, xcr0_avx512) || !has(words.leaf7_ebx, leaf7_ebx_avx512)) return features;
  features.insert(Feature::avx512);
  if (has(words.leaf7_ecx, leaf7_ecx_avx512_vnni)) features.insert(Feature::avx512_vnni);
  if (has(words.leaf7_subleaf1_eax, subleaf1_eax_avx512_bf16)) features.insert(Feature::avx512_bf16);
  if (has(words.leaf7_edx, leaf7_edx_avx512_fp16)) features.insert(Feature::avx512_fp16);
  return features;
}

FeatureSet features_from(const Aarch64FeatureWords& words) {
  // Linux, arch/arm64/include/uapi/asm/hwcap.h. Numbers and not its names, so that this compiles everywhere.
  FeatureSet features;
  if (!has(words.hwcap, bits({1}))) return features;  // ASIMD: the extensions below all work on its registers
  features.insert(Feature::neon);
  // FPHP, ASIMDHP, ASIMDFHM: half-precision arithmetic, and products of halves that are summed in single precision.
  if (has(words.hwcap, bits({9, 10, 23}))) features.insert(Feature::fp16);
  if (has(words.hwcap, bits({20}))) features.insert(Feature::dotprod);
  if (has(words.hwcap, bits({22}))) features.insert(Feature::sve);
  if (has(words.hwcap2, bits({13}))) features.insert(Feature::i8mm);
  if (has(words.hwcap2, bits({14}))) features.insert(Feature::bf16);
  return features;
}

#if defined(__x86_64__)
namespace {

std::uint64_t read_xcr0() {
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32) | low;
}

bool request_tile_permission() {
  constexpr long request_permission = 0x1023;  // ARCH_REQ_XCOMP_PERM, newer than some systems' headers
  constexpr long tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

}  // namespace

FeatureSet detect_features() {
  X86FeatureWords words;
  words.leaf1_ecx = cpuid(1).ecx;
  CpuidRegisters leaf7 = cpuid(7);
  words.leaf7_ebx = leaf7.ebx;
  words.leaf7_ecx = leaf7.ecx;
  words.leaf7_edx = leaf7.edx;
  if (leaf7.eax >= 1) words.leaf7_subleaf1_eax = cpuid(7, 1).eax;
  words.extended1_ecx = cpuid(0x80000001u).ecx;
  if (has(words.leaf1_ecx, leaf1_ecx_osxsave)) words.xcr0 = read_xcr0();
  words.tile_permission = tile_state_enabled(words) && request_tile_permission();
  return features_from(words);
}
#else
FeatureSet detect_features() {
  return features_from(Aarch64FeatureWords{.hwcap = getauxval(AT_HWCAP), .hwcap2 = getauxval(AT_HWCAP2)});
}
#endif

}  // namespace ingot
