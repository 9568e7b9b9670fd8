#include "machine/features.h"

namespace ingot {

std::string_view name_of(Feature feature) {
  switch (feature) {
    case Feature::sse4: return "sse4";
    case Feature::avx2: return "avx2";
    case Feature::avx512: return "avx512";
    case Feature::avx_vnni: return "avx_vnni";
    case Feature::avx512_vnni: return "avx512_vnni";
    case Feature::avx512_bf16: return "avx512_bf16";
    case Feature::avx512_fp16: return "avx512_fp16";
    case Feature::amx_int8: return "amx_int8";
    case Feature::amx_bf16: return "amx_bf16";
    case Feature::neon: return "neon";
    case Feature::fp16: return "fp16";
    case Feature::dotprod: return "dotprod";
    case Feature::i8mm: return "i8mm";
    case Feature::bf16: return "bf16";
    case Feature::sve: return "sve";
    case Feature::sm_80: return "sm_80";
    case Feature::sm_89: return "sm_89";
    case Feature::sm_90a: return "sm_90a";
  }
  return "unknown feature";
}

Architecture architecture_of(Feature feature) {
  if (feature < Feature::neon) return Architecture::x86_64;
  return feature < Feature::sm_80 ? Architecture::aarch64 : Architecture::cuda;
}

}  // namespace ingot
