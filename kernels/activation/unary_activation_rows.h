// The tables and the scalar truth of unary activations, written once over curves. Included by the sources that
// instantiate them.
#pragma once

#include "kernels/activation/unary_activation.h"
#include "kernels/contract/describe.h"
#include "tensor/rows.h"

namespace ingot {

// Calls visit(pointer into each view) for every row, or once for a view without axes. All views have one shape and
// packed last axes.
template <class Visit, class First, class... Others>
void for_each_row(const Visit& visit, const View<First>& first, const View<Others>&... others) {
  if (first.empty()) return;
  if (first.rank() == 0) return visit(std::int64_t{1}, first.data(), others.data()...);
  const Rows rows(first);
  for (std::int64_t row = 0; row < rows.count(); ++row) visit(rows.length(), rows[row], Rows(others)[row]...);
}

template <class Curve>
void unary_activation_reference(const typename UnaryActivation<Curve>::Arguments& a, Context&) {
  for_each_row(
      [&](std::int64_t length, const float* x, float* y) {
        for (std::int64_t i = 0; i < length; ++i) y[i] = static_cast<float>(Curve::value(double{x[i]}, a));
      },
      a.x, a.y);
}

template <class Curve>
void unary_activation_backward_reference(const typename UnaryActivationBackward<Curve>::Arguments& a, Context&) {
  for_each_row(
      [&](std::int64_t length, const float* x, const float* dy, float* dx) {
        for (std::int64_t i = 0; i < length; ++i) {
          dx[i] = static_cast<float>(double{dy[i]} * Curve::derivative(double{x[i]}, a));
        }
      },
      a.x, a.dy, a.dx);
}

template <class Curve>
std::span<const Variant<UnaryActivation<Curve>>> UnaryActivation<Curve>::variants() {
  static const SimdEntries<UnaryActivation> entries = forward_entries<Curve>();
  static const Variant<UnaryActivation> table[] = {
      curve_cuda<Curve>(),
      INGOT_SIMD_ROWS(entries),
      {"reference", {}, unary_activation_reference<Curve>},
  };
  return table;
}

template <class Curve>
std::span<const Variant<UnaryActivationBackward<Curve>>> UnaryActivationBackward<Curve>::variants() {
  static const SimdEntries<UnaryActivationBackward> entries = backward_entries<Curve>();
  static const Variant<UnaryActivationBackward> table[] = {
      INGOT_SIMD_ROWS(entries),
      {"reference", {}, unary_activation_backward_reference<Curve>},
  };
  return table;
}

}  // namespace ingot
