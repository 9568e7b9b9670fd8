// ONNX casts and quantization. Types of 4 and 2 bits are stored nowhere in Ingot; they are unpacked to 8 bits here, and
// results are cut to their range, which after a saturation to 8 bits gives what a saturation to fewer bits gives.
#include <algorithm>
#include <optional>

#include "kernels/layout/cast.h"
#include "kernels/quantization/dynamic_quantize.h"
#include "kernels/quantization/per_channel.h"
#include "kernels/quantization/per_tensor.h"
#include "tests/outside/codes.h"
#include "tests/outside/trial.h"

namespace ingot::outside {
namespace {

// The 8-bit type that holds a code type's numbers; nothing where none does.
std::optional<std::string> code_type(const std::string& dtype) {
  if (dtype == "i8" || dtype == "u8") return dtype;
  const PackedType packed = packed_type(dtype);
  if (packed.bits == 0 || dtype == "f4e2m1") return std::nullopt;
  return packed.is_signed ? "i8" : "u8";
}

// An array of a plain type that Ingot casts; packed integers count as the 8-bit type that holds them.
class CastBuffer {
 public:
  static std::optional<DType> type_of(const std::string& dtype) {
    if (const auto codes = code_type(dtype)) return dtype_by_name(*codes);
    const auto type = dtype_by_name(dtype);
    return type && !is_block_format(*type) ? type : std::nullopt;
  }

  CastBuffer(DType type, const Sizes& shape) : type_(type), shape_(shape), bytes_(bytes_for(type, shape)) {}
  CastBuffer(DType type, const HostTensor& tensor) : CastBuffer(type, tensor.shape) {
    with_element_type(type_, [&]<class Element>() {
      auto* elements = reinterpret_cast<Element*>(bytes_.data());
      const std::vector<double>& values = tensor.values;
      for (std::size_t index = 0; index < values.size(); ++index) {
        if constexpr (std::is_arithmetic_v<Element>) {
          elements[index] = static_cast<Element>(values[index]);
        } else {
          elements[index] = Element(static_cast<float>(values[index]));
        }
      }
    });
  }

  AnyView view() { return AnyView(bytes_.data(), type_, to_shape(shape_)); }
  std::vector<double> values() const {
    std::vector<double> values;
    with_element_type(type_, [&]<class Element>() {
      const auto* elements = reinterpret_cast<const Element*>(bytes_.data());
      for (std::int64_t index = 0; index < count_of(shape_); ++index) {
        if constexpr (std::is_arithmetic_v<Element>) {
          values.push_back(static_cast<double>(elements[index]));
        } else {
          values.push_back(static_cast<double>(static_cast<float>(elements[index])));
        }
      }
    });
    return values;
  }

 private:
  static std::size_t bytes_for(DType type, const Sizes& shape) {
    return static_cast<std::size_t>((count_of(shape) + 1) * block_bytes(type));
  }

  DType type_;
  Sizes shape_;
  std::vector<std::byte> bytes_;
};

void cast(const OnnxCase& onnx, Trial& trial) {
  const HostTensor& x = onnx.required(0);
  const HostTensor& expected = onnx.required_output(0);
  const auto from = CastBuffer::type_of(x.dtype);
  auto to = CastBuffer::type_of(expected.dtype);
  const PackedType packed = packed_type(expected.dtype);
  // f32 widens to f64 exactly, so a cast to f64 is one to f32; packed integers keep the low bits of a wide one.
  if (expected.dtype == "f64") to = DType::f32;
  if (packed.bits > 0 && to) to = DType::i32;
  if (!from) return trial.not_applicable("Ingot has no type " + x.dtype);
  if (!to) return trial.not_applicable("Ingot has no type " + expected.dtype);
  CastBuffer source(*from, x);
  CastBuffer target(*to, expected.shape);
  trial.run<Cast>({.x = source.view(), .y = target.view()});
  std::vector<double> found = target.values();
  if (packed.bits > 0) {
    for (double& value : found) value = low_bits(static_cast<std::int64_t>(value), packed);
  }
  trial.expect_exactly(0, found);
}

// How scales lie over a tensor: one for all, one for each index of an axis, or one for each block along an axis.
struct Granularity {
  std::vector<int> order;  // the axes of x, the blocked one last, where scales go by blocks
  Sizes shape;             // x as the operation sees it
  std::int32_t axis = 0;
  bool is_per_tensor = false;
};

Granularity granularity_of(const OnnxCase& onnx, const HostTensor& x, const HostTensor& scale) {
  Granularity result;
  for (int axis = 0; axis < x.rank(); ++axis) result.order.push_back(axis);
  result.shape = x.rank() == 0 ? Sizes{1} : x.shape;
  if (scale.count() == 1) {
    result.is_per_tensor = true;
    return result;
  }
  const int axis = resolved_axis(onnx.integer("axis", 1), x.rank());
  result.axis = axis;
  const std::int64_t block = onnx.integer("block_size", 0);
  if (block == 0) return result;
  std::rotate(result.order.begin() + axis, result.order.begin() + axis + 1, result.order.end());
  result.shape = {block == 0 ? 0 : x.count() / block, block};
  result.axis = 0;
  return result;
}

// A scale or zero point as the operation takes it: in the order of blocks where scales go by blocks.
HostTensor parameter_of(const HostTensor& parameter, const Granularity& granularity) {
  const bool is_blocked = parameter.rank() > 1;
  return reshaped(is_blocked ? permuted(parameter, granularity.order) : parameter, {parameter.count()});
}

HostTensor arranged(const HostTensor& x, const Granularity& granularity) {
  return reshaped(permuted(x, granularity.order), granularity.shape);
}

// What `arranged` did, undone.
std::vector<double> rearranged(const HostTensor& like, const Granularity& granularity, std::vector<double> values) {
  Sizes shape;
  std::vector<int> back(granularity.order.size());
  for (std::size_t axis = 0; axis < granularity.order.size(); ++axis) {
    shape.push_back(like.size(granularity.order[axis]));
    back[static_cast<std::size_t>(granularity.order[axis])] = static_cast<int>(axis);
  }
  return permuted({like.dtype, shape, std::move(values)}, back).values;
}

bool has_uneven_blocks(const OnnxCase& onnx, const HostTensor& x, const HostTensor& scale) {
  const std::int64_t block = onnx.integer("block_size", 0);
  return block != 0 && scale.count() > 1 && x.size(resolved_axis(onnx.integer("axis", 1), x.rank())) % block != 0;
}

void quantize_linear(const OnnxCase& onnx, Trial& trial) {
  const HostTensor& x = onnx.required(0);
  const HostTensor& scale = onnx.required(1);
  const HostTensor* zero = onnx.input(2);
  const std::string& dtype = onnx.required_output(0).dtype;
  const auto codes = code_type(dtype);
  if (!codes) return trial.not_applicable("codes are of 8 bits or fewer, not " + dtype);
  if (!x.is_float()) return trial.not_applicable("codes are made of floats, not of " + x.dtype);
  if (has_uneven_blocks(onnx, x, scale)) return trial.not_applicable("blocks that do not divide the axis");
  const Granularity granularity = granularity_of(onnx, x, scale);
  Floats input(arranged(x, granularity));
  Floats scales(parameter_of(scale, granularity));
  Codes y(granularity.shape, *codes);
  std::optional<Codes> zeros;
  if (zero != nullptr) zeros.emplace(parameter_of(*zero, granularity), *codes);
  const AnyView zero_view = zeros ? zeros->view() : AnyView();
  if (granularity.is_per_tensor) {
    trial.run<QuantizePerTensor>({.x = input.view(), .scale = scales.view(), .zero_point = zero_view, .y = y.view()});
  } else {
    trial.run<QuantizePerChannel>(
        {.x = input.view(), .scale = scales.view(), .zero_point = zero_view, .axis = granularity.axis, .y = y.view()});
  }
  std::vector<double> found = rearranged(x, granularity, y.values());
  if (const PackedType packed = packed_type(dtype); packed.bits > 0) {
    const double lowest = packed.is_signed ? -(1 << (packed.bits - 1)) : 0;
    for (double& value : found) value = std::clamp(value, lowest, lowest + (1 << packed.bits) - 1);
  }
  trial.expect(0, found);
}

void dequantize_linear(const OnnxCase& onnx, Trial& trial) {
  const HostTensor& x = onnx.required(0);
  const HostTensor& scale = onnx.required(1);
  const HostTensor* zero = onnx.input(2);
  const auto codes = code_type(x.dtype);
  if (!codes) return trial.not_applicable("codes are of 8 bits or fewer, not " + x.dtype);
  if (has_uneven_blocks(onnx, x, scale)) return trial.not_applicable("blocks that do not divide the axis");
  const Granularity granularity = granularity_of(onnx, x, scale);
  Codes input(arranged(x, granularity), *codes);
  Floats scales(parameter_of(scale, granularity));
  Floats y(granularity.shape);
  std::optional<Codes> zeros;
  if (zero != nullptr) zeros.emplace(parameter_of(*zero, granularity), *codes);
  const AnyView zero_view = zeros ? zeros->view() : AnyView();
  if (granularity.is_per_tensor) {
    trial.run<DequantizePerTensor>({.x = input.view(), .scale = scales.view(), .zero_point = zero_view, .y = y.view()});
  } else {
    trial.run<DequantizePerChannel>(
        {.x = input.view(), .scale = scales.view(), .zero_point = zero_view, .axis = granularity.axis, .y = y.view()});
  }
  trial.expect(0, rearranged(x, granularity, y.values()));
}

void dynamic_quantize_linear(const OnnxCase& onnx, Trial& trial) {
  Floats x(onnx.required(0));
  Buffer<std::uint8_t> y(onnx.required(0).shape);
  Floats scale(Sizes{1});
  Buffer<std::uint8_t> zero(Sizes{1});
  trial.run<DynamicQuantize>({.x = x.view(), .y = y.view(), .scale = scale.view(), .zero_point = zero.view()});
  trial.expect(0, y.values());
  trial.expect(1, scale.values());
  trial.expect(2, zero.values());
}

}  // namespace

std::span<const Adapter> quantization_adapters() {
  static constexpr Adapter adapters[] = {
      {"Cast", cast},
      {"CastLike", cast},
      {"DequantizeLinear", dequantize_linear},
      {"DynamicQuantizeLinear", dynamic_quantize_linear},
      {"QuantizeLinear", quantize_linear},
  };
  return adapters;
}

}  // namespace ingot::outside
