#include "kernels/contract/case_builder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "tensor/block_codec.h"
#include "tensor/generic_formats.h"

namespace ingot {
namespace {

constexpr std::size_t alignment = 64;

// Any codes under a scale that puts the largest of them about where the largest value is: a block of a format that
// numbers cannot be encoded to.
void fill_without_encoder(DType dtype, const std::vector<float>& values, RandomNumbers& random, std::byte* block) {
  for (int i = 0; i < block_bytes(dtype); ++i) block[i] = static_cast<std::byte>(random.next());
  float largest = 0;
  for (const float value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  auto* bytes = reinterpret_cast<std::uint8_t*>(block);
  if (dtype == DType::nvfp4) {
    if (largest == 0) std::memset(bytes, 0, sizeof(BlockNVFP4::scales));
    return;
  }
  constexpr float most = 400;  // of a code times its group's scale, in any of these formats
  StoredHalf scale;
  scale.set(std::min(largest / most, 65504.0f));
  if (dtype != DType::iq1_m) {
    std::memcpy(bytes, scale.bytes, sizeof(scale));
    return;
  }
  auto& scales = reinterpret_cast<BlockIQ1_M*>(bytes)->scales;
  for (int i = 0; i < 4; ++i) {
    scales[i][1] = static_cast<std::uint8_t>((scales[i][1] & 15) | (scale.bits() >> 4 * i & 15) << 4);
  }
}

}  // namespace

std::string_view name_of(Regime regime) {
  switch (regime) {
    case Regime::ordinary: return "ordinary";
    case Regime::large: return "large";
    case Regime::tiny: return "tiny";
    case Regime::specials: return "specials";
    case Regime::zeros: return "zeros";
    case Regime::gradient: return "gradient";
  }
  return "unknown";
}

std::string_view name_of(LayoutStyle style) {
  switch (style) {
    case LayoutStyle::packed: return "packed";
    case LayoutStyle::padded: return "padded";
    case LayoutStyle::misaligned: return "misaligned";
  }
  return "unknown";
}

CaseBuilder::CaseBuilder(std::uint64_t seed, Regime regime, LayoutStyle style, std::uint8_t poison)
    : random_(seed), regime_(regime), style_(style), poison_(poison) {}

std::uint64_t CaseBuilder::random() { return random_.next(); }

double CaseBuilder::random_uniform(double low, double high) { return low + (high - low) * random_.uniform(); }

std::int64_t CaseBuilder::random_index(std::int64_t limit) {
  return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(limit)));
}

AnyView CaseBuilder::allocate(DType dtype, const Shape& shape, Packing packing) {
  const LayoutStyle style = packing == Packing::contiguous ? LayoutStyle::packed : style_;
  const auto block = static_cast<std::int64_t>(block_bytes(dtype));
  Strides strides = contiguous_byte_strides(dtype, shape);
  if (style == LayoutStyle::padded && shape.rank() >= 2) {
    // A gap of three blocks behind each row; outer axes follow.
    std::int64_t step = row_bytes(dtype, std::max<std::int64_t>(shape.last(), 1)) + 3 * block;
    for (int axis = shape.rank() - 2; axis >= 0; --axis) {
      strides[axis] = step;
      step *= std::max<std::int64_t>(shape[axis], 1);
    }
  }
  std::int64_t extent = block;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t size =
        axis == shape.rank() - 1 ? divide_rounding_up(shape[axis], block_elements(dtype)) : shape[axis];
    if (size > 0) extent += (size - 1) * strides[axis];
  }
  std::vector<std::byte>& storage =
      storages_.emplace_back(static_cast<std::size_t>(extent + block) + alignment, std::byte{poison_});
  const auto start = reinterpret_cast<std::uintptr_t>(storage.data());
  auto* data = storage.data() + (align_up(start, alignment) - start);
  if (style == LayoutStyle::misaligned) data += block;
  return AnyView(data, dtype, shape, strides);
}

AnyView CaseBuilder::blank_any(DType dtype, const Shape& shape, Packing packing) {
  return allocate(dtype, shape, packing);  // storage starts poisoned
}

AnyView CaseBuilder::filled_any(DType dtype, const Shape& shape, Fill how, Packing packing) {
  const AnyView view = allocate(dtype, shape, packing);
  fill(view, how);
  return view;
}

double CaseBuilder::next_value(Fill how, std::int64_t index, std::int64_t count) {
  switch (how.kind) {
    case Fill::Kind::constant: return how.low;
    case Fill::Kind::uniform: return random_uniform(how.low, how.high);
    case Fill::Kind::integers: return std::floor(random_uniform(how.low, how.high));
    case Fill::Kind::regime: break;
  }
  // Irwin-Hall: twelve uniforms sum to variance one; exact tails do not matter here.
  double normal = -6;
  for (int term = 0; term < 12; ++term) normal += random_uniform(0, 1);
  switch (regime_) {
    case Regime::ordinary: return normal;
    case Regime::large: return normal * 1e15;
    case Regime::tiny: return normal * (random() % 2 == 0 ? 1e-40 : 1e-37);
    case Regime::zeros: return random() % 4 == 0 ? -0.0 : 0.0;
    case Regime::specials: {
      const std::uint64_t draw = random() % 64;
      if (draw == 0) return std::numeric_limits<double>::quiet_NaN();
      if (draw == 1) return std::numeric_limits<double>::infinity();
      if (draw == 2) return -std::numeric_limits<double>::infinity();
      return normal;
    }
    case Regime::gradient: {
      // An evenly spaced grid over [-2, 2] without its middle, visited in a scrambled order (an odd multiplier is a
      // permutation when coprime to the count) so that no two neighbours in memory are neighbours in value.
      std::int64_t multiplier = 7;
      while (std::gcd(multiplier, count) != 1) multiplier += 2;
      const double position =
          (static_cast<double>((index * multiplier + 3) % count) + 0.5) / static_cast<double>(count);
      const double value = position < 0.5 ? -2.0 + 3.6 * position : -1.6 + 3.6 * position;
      return value;
    }
  }
  return normal;
}

void CaseBuilder::fill(const AnyView& view, Fill how) {
  if (view.empty()) return;
  const std::int64_t count = view.count();
  std::int64_t index = 0;
  const int block = block_elements(view.dtype());
  if (is_block_format(view.dtype())) {
    std::vector<float> values(static_cast<std::size_t>(block));
    for_each_block(view, [&](std::int64_t offset) {
      for (float& value : values) value = static_cast<float>(next_value(how, index++, count));
      if (has_encoder(view.dtype())) {
        encode_row(view.dtype(), values.data(), view.data() + offset, block);
      } else {
        fill_without_encoder(view.dtype(), values, random_, view.data() + offset);
      }
    });
    return;
  }
  with_element_type(view.dtype(), [&]<class Element>() {
    for_each_block(view, [&](std::int64_t offset) {
      double value = next_value(how, index++, count);
      Element element{};
      if constexpr (std::is_integral_v<Element>) {
        if (how.kind == Fill::Kind::regime) {  // integers have no regimes: any bits are ordinary
          const auto bits = random();
          std::memcpy(&element, &bits, sizeof(element));
        } else {
          element = static_cast<Element>(static_cast<std::int64_t>(value));  // as many bits of it as there are
        }
      } else {
        element = Element(static_cast<float>(value));
      }
      std::memcpy(view.data() + offset, &element, sizeof(element));
    });
  });
}

}  // namespace ingot
