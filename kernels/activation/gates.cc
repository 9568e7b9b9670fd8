#include "kernels/activation/gates.h"

#include "kernels/activation/gates_cases.h"
#include "kernels/activation/unary_activation_rows.h"

namespace ingot {

template <class Gate>
Result<void> GatedActivation<Gate>::check(const Arguments& a) {
  TRY(require_shape(name, "C1", "up", a.up, a.gate.shape()));
  TRY(require_shape(name, "C1", "y", a.y, a.gate.shape()));
  TRY(require_contiguous_rows(name, "C2", "gate", a.gate));
  TRY(require_contiguous_rows(name, "C2", "up", a.up));
  TRY(require_contiguous_rows(name, "C2", "y", a.y));
  return {};
}

template <class Gate>
Cost GatedActivation<Gate>::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.gate.count());
  return {.operations = (Gate::Curve::operations + 1) * count, .bytes_read = 8 * count, .bytes_written = 4 * count};
}

template <class Gate>
Tolerance GatedActivation<Gate>::tolerance(const Arguments&) {
  Tolerance tolerance = Gate::Curve::tolerance({});
  tolerance.epsilons += 1;
  tolerance.least_scale *= 8;  // ordinary numbers stay below 8, and a denormal curve is multiplied by one
  tolerance.reason = "the curve's own tolerance, and one rounded product";
  return tolerance;
}

template <class Gate>
void gated_activation_reference(const typename GatedActivation<Gate>::Arguments& a, Context&) {
  for_each_row(
      [&](std::int64_t length, const float* gate, const float* up, float* y) {
        for (std::int64_t i = 0; i < length; ++i) {
          y[i] = static_cast<float>(Gate::Curve::value(double{gate[i]}, {}) * double{up[i]});
        }
      },
      a.gate, a.up, a.y);
}

template <class Gate>
std::span<const Variant<GatedActivation<Gate>>> GatedActivation<Gate>::variants() {
  static const SimdEntries<GatedActivation> entries = gate_entries<Gate>();
  static const Variant<GatedActivation> table[] = {
      gate_cuda<Gate>(),
      INGOT_SIMD_ROWS(entries),
      {"reference", {}, gated_activation_reference<Gate>},
  };
  return table;
}

template <class Gate>
Result<void> GatedActivationBackward<Gate>::check(const Arguments& a) {
  TRY(require_shape(name, "C1", "up", a.up, a.gate.shape()));
  TRY(require_shape(name, "C1", "dy", a.dy, a.gate.shape()));
  TRY(require_shape(name, "C1", "dgate", a.dgate, a.gate.shape()));
  TRY(require_shape(name, "C1", "dup", a.dup, a.gate.shape()));
  TRY(require_contiguous_rows(name, "C2", "gate", a.gate));
  TRY(require_contiguous_rows(name, "C2", "up", a.up));
  TRY(require_contiguous_rows(name, "C2", "dy", a.dy));
  TRY(require_contiguous_rows(name, "C2", "dgate", a.dgate));
  TRY(require_contiguous_rows(name, "C2", "dup", a.dup));
  return {};
}

template <class Gate>
Cost GatedActivationBackward<Gate>::cost(const Arguments& a) {
  const auto count = static_cast<double>(a.gate.count());
  return {.operations = (Gate::Curve::operations + 8) * count, .bytes_read = 12 * count, .bytes_written = 8 * count};
}

template <class Gate>
Tolerance GatedActivationBackward<Gate>::tolerance(const Arguments&) {
  const double value_epsilons = Gate::Curve::tolerance({}).epsilons;
  Tolerance tolerance = Gate::Curve::backward_tolerance({});
  // dup follows the curve, dgate its derivative times up, which ordinary numbers keep below 8.
  tolerance.epsilons = std::max(value_epsilons, (tolerance.least_scale > 0 ? 8 : 1) * tolerance.epsilons) + 1;
  tolerance.reason = "the tolerances of the curve and of its derivative, and two rounded products";
  return tolerance;
}

template <class Gate>
void gated_activation_backward_reference(const typename GatedActivationBackward<Gate>::Arguments& a, Context&) {
  for_each_row(
      [&](std::int64_t length, const float* gates, const float* ups, const float* dys, float* dgate, float* dup) {
        for (std::int64_t i = 0; i < length; ++i) {
          const double gate = gates[i], up = ups[i],
                       dy = dys[i];  // before dgate and dup are written: they may be in place
          dgate[i] = static_cast<float>(dy * up * Gate::Curve::derivative(gate, {}));
          dup[i] = static_cast<float>(dy * Gate::Curve::value(gate, {}));
        }
      },
      a.gate, a.up, a.dy, a.dgate, a.dup);
}

template <class Gate>
std::span<const Variant<GatedActivationBackward<Gate>>> GatedActivationBackward<Gate>::variants() {
  static const SimdEntries<GatedActivationBackward> entries = gate_backward_entries<Gate>();
  static const Variant<GatedActivationBackward> table[] = {
      INGOT_SIMD_ROWS(entries),
      {"reference", {}, gated_activation_backward_reference<Gate>},
  };
  return table;
}

template const Operation& describe_operation<GatedActivation<Swiglu>>();
template const Operation& describe_operation<GatedActivationBackward<Swiglu>>();
template const Operation& describe_operation<GatedActivation<Geglu>>();
template const Operation& describe_operation<GatedActivationBackward<Geglu>>();
template const Operation& describe_operation<GatedActivation<GegluTanh>>();
template const Operation& describe_operation<GatedActivationBackward<GegluTanh>>();
template const Operation& describe_operation<GatedActivation<Reglu>>();
template const Operation& describe_operation<GatedActivationBackward<Reglu>>();

}  // namespace ingot
