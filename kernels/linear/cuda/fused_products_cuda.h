// Fused forms as launches see them: each part as a product of its own, and all of them together.
#pragma once

#include "kernels/linear/cuda/products_cuda.h"

namespace ingot {

inline DeviceProduct device_product(const Matmul::Arguments& a, const View<float>& y) {
  return {.weights = a.weights.data(),
          .row_bytes = a.weights.byte_stride(0),
          .expert_bytes = 0,
          .offsets = nullptr,
          .offsets_stride = 0,
          .experts = 1,
          .rows = static_cast<std::uint32_t>(a.shape()[0]),
          .columns = static_cast<std::uint32_t>(a.weights.size(0)),
          .depth = static_cast<std::uint32_t>(a.shape()[1]),
          .bias = a.bias.data(),
          .y = y.data(),
          .y_stride = y.stride(0)};
}

// Of a gate and what it gates, both have the y of the first.
inline JointProducts joint_products(const FusedProducts& products) {
  JointProducts joint = {.parts = {}, .types = {}, .count = 0, .curve = products.curve};
  for (std::size_t i = 0; i < static_cast<std::size_t>(products.count); ++i) {
    const Matmul::Arguments& part = products.parts[i];
    joint.parts[i] = device_product(part, products.has_factor() ? products.parts[0].y : part.y);
    joint.types[i] = part.weights.dtype();
  }
  joint.count = static_cast<std::uint32_t>(products.count);
  return joint;
}

}  // namespace ingot
