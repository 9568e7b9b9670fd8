#include "model/plan/product_fusion.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "kernels/linear/fused/epilogue.h"
#include "kernels/linear/ways/column_product.h"
#include "tensor/planes.h"

namespace ingot {
namespace {

struct CurveRule {
  std::string_view curve;
  std::string_view gate;
  FusedCurve fused;
};
constexpr CurveRule curve_rules[] = {{"activation.silu", "activation.swiglu", FusedCurve::silu},
                                     {"activation.gelu", "activation.geglu", FusedCurve::gelu},
                                     {"activation.gelu_tanh", "activation.geglu_tanh", FusedCurve::gelu_tanh},
                                     {"activation.relu", "activation.reglu", FusedCurve::relu}};

const CurveRule* rule_of(const Step& step, std::string_view CurveRule::* name) {
  const auto* found =
      std::ranges::find_if(curve_rules, [&](const CurveRule& rule) { return step.operation->name == rule.*name; });
  return found == std::end(curve_rules) ? nullptr : found;
}

// A product with some of its weights' rows, which are columns of what it makes.
struct Source {
  int step = -1;
  std::int64_t layout = 0;
  Operand x, weights, bias;

  bool fits(const Source& other) const { return x == other.x && layout == other.layout; }
};

class ProductFusion {
 public:
  ProductFusion(Circuit& circuit, const RewriteContext& context)
      : circuit_(circuit), context_(context), is_gone_(circuit.steps.size(), false), uses_(circuit.tensors.size(), 0) {
    for (const Step& step : circuit.steps) {
      for (const BoundOperand& bound : step.operands) ++uses_[static_cast<std::size_t>(bound.operand.tensor)];
    }
  }

  int fuse_gates() {
    return replace_each([this](std::size_t at) -> std::optional<Step> {
      const Step& gate = circuit_.steps[at];
      const CurveRule* rule = rule_of(gate, &CurveRule::gate);
      if (rule == nullptr) return {};
      const std::optional<Source> first = source_of(at, *gate.find("gate"), gate);
      const std::optional<Source> second = source_of(at, *gate.find("up"), gate);
      if (!first || !second || !first->fits(*second)) return {};
      Step fused = Step::of("linear.gated_matmul", gate.name, gate.layer);
      fused.bind("x", first->x);
      fused.set("layout", first->layout);
      fused.bind("gate_weights", first->weights);
      fused.bind("up_weights", second->weights);
      if (first->bias.is_present()) fused.bind("gate_bias", first->bias);
      if (second->bias.is_present()) fused.bind("up_bias", second->bias);
      fused.set("curve", static_cast<std::int64_t>(rule->fused));
      fused.bind("y", *gate.find("y"));
      drop(*first);
      drop(*second);
      return fused;
    });
  }

  int fuse_curves() {
    return replace_each([this](std::size_t at) -> std::optional<Step> {
      const Step& curve = circuit_.steps[at];
      const CurveRule* rule = rule_of(curve, &CurveRule::curve);
      if (rule == nullptr) return {};
      const std::optional<Source> product = source_of(at, *curve.find("x"), curve);
      if (!product) return {};
      Step fused = Step::of("linear.activated_matmul", curve.name, curve.layer);
      fused.bind("x", product->x);
      fused.set("layout", product->layout);
      fused.bind("weights", product->weights);
      if (product->bias.is_present()) fused.bind("bias", product->bias);
      fused.set("curve", static_cast<std::int64_t>(rule->fused));
      fused.bind("y", *curve.find("y"));
      drop(*product);
      return fused;
    });
  }

  // The joint product stands where the first of them stood: there x is made, and nobody reads the others' before.
  int join() {
    return replace_each([this](std::size_t at) -> std::optional<Step> {
      if (!is_product(at)) return {};
      std::vector<std::size_t> parts = {at};
      for (std::size_t other = at + 1; other < circuit_.steps.size() && parts.size() < 3; ++other) {
        if (is_product(other) && fit_together(circuit_.steps[at], circuit_.steps[other])) parts.push_back(other);
      }
      if (parts.size() < 2) return {};
      return joined(parts);
    });
  }

 private:
  // Calls replacement(index) for each step that is left; what it gives stands in the step's place.
  template <class Replacement>
  int replace_each(Replacement replacement) {
    int count = 0;
    for (std::size_t at = 0; at < circuit_.steps.size(); ++at) {
      if (is_gone_[at]) continue;
      std::optional<Step> fused = replacement(at);
      if (!fused) continue;
      is_gone_[at] = false;
      circuit_.steps[at] = std::move(*fused);
      ++count;
    }
    std::size_t index = 0;
    std::erase_if(circuit_.steps, [&](const Step&) { return is_gone_[index++]; });
    return count;
  }

  bool fit_together(const Step& one, const Step& other) const {
    return *one.find("x") == *other.find("x") && one.integer("layout") == other.integer("layout") &&
           are_of_one_kind(weight_type(one), weight_type(other));
  }

  DType weight_type(const Step& product) const {
    return circuit_.tensors[static_cast<std::size_t>(product.find("weights")->tensor)].dtype;
  }

  // Blocks of any kind, or floats of one: no way of multiplying takes both, and what no way takes goes slowly.
  static bool are_of_one_kind(DType one, DType other) {
    return one == other || (is_block_format(one) && is_block_format(other));
  }

  bool is_product(std::size_t at) const {
    const Step& step = circuit_.steps[at];
    if (is_gone_[at] || step.operation->name != "linear.matmul") return false;
    if (context_.is_for_device) return true;
    const CircuitTensor& matrix = circuit_.tensors[static_cast<std::size_t>(step.find("weights")->tensor)];
    // Where neighbours must never show, few rows are multiplied as many are.
    const std::int64_t rows = context_.neighbours == Neighbours::may_show ? step.find("x")->shape[0] : many_rows;
    return multiplies_as_weights_lie(matrix.dtype, rows);
  }

  // The product whose columns `operand` is, where nobody but `reader` reads what it makes.
  std::optional<Source> source_of(std::size_t before, const Operand& operand, const Step& reader) const {
    const auto reads = std::ranges::count_if(
        reader.operands, [&](const BoundOperand& bound) { return bound.operand.tensor == operand.tensor; });
    const auto tensor = static_cast<std::size_t>(operand.tensor);
    if (circuit_.tensors[tensor].storage != Storage::activation || uses_[tensor] != 1 + reads) return {};
    for (std::size_t at = before; at-- > 0;) {
      const Operand* y = is_product(at) ? circuit_.steps[at].find("y") : nullptr;
      if (y != nullptr && y->tensor == operand.tensor) return columns_of(at, *y, operand);
    }
    return {};
  }

  std::optional<Source> columns_of(std::size_t at, const Operand& y, const Operand& part) const {
    constexpr auto element = static_cast<std::int64_t>(sizeof(float));
    const std::int64_t first = (part.byte_offset - y.byte_offset) / element;
    const bool are_columns = part.shape.rank() == 2 && part.shape[0] == y.shape[0] &&
                             part.byte_strides == y.byte_strides && first >= 0 && first + part.shape[1] <= y.shape[1];
    if (!are_columns) return {};
    const Step& step = circuit_.steps[at];
    const std::int64_t layout = step.integer("layout");
    const bool is_in_planes = layout == static_cast<std::int64_t>(WeightLayout::planes16);
    const std::int64_t together = is_in_planes ? plane_rows : interleaved_rows;
    const bool are_whole_braids = first % together == 0 && part.shape[1] % together == 0;
    if (layout != 0 && !are_whole_braids) return {};
    Source source{static_cast<int>(at), layout, *step.find("x"), *step.find("weights"), {}};
    source.weights.shape[0] = part.shape[1];
    source.weights.byte_offset += first * source.weights.byte_strides[0];
    if (const Operand* bias = step.find("bias"); bias != nullptr && bias->is_present()) {
      source.bias = *bias;
      source.bias.shape[0] = part.shape[1];
      source.bias.byte_offset += first * source.bias.byte_strides[0];
    }
    return source;
  }

  Step joined(const std::vector<std::size_t>& parts) {
    constexpr std::string_view fields[3][3] = {{"first", "first_weights", "first_bias"},
                                               {"second", "second_weights", "second_bias"},
                                               {"third", "third_weights", "third_bias"}};
    const Step& first = circuit_.steps[parts[0]];
    Step fused = Step::of("linear.joint_matmul", first.name, first.layer);
    fused.bind("x", *first.find("x"));
    fused.set("layout", first.integer("layout"));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Step& part = circuit_.steps[parts[i]];
      if (i > 0) fused.name += "+" + part.name.substr(layer_prefix(part.layer).size());
      fused.bind(fields[i][0], *part.find("y"));
      fused.bind(fields[i][1], *part.find("weights"));
      const Operand* bias = part.find("bias");
      if (bias != nullptr && bias->is_present()) fused.bind(fields[i][2], *bias);
      is_gone_[parts[i]] = true;
    }
    return fused;
  }

  void drop(const Source& source) { is_gone_[static_cast<std::size_t>(source.step)] = true; }

  static constexpr std::int64_t many_rows = std::numeric_limits<std::int64_t>::max();

  Circuit& circuit_;
  const RewriteContext& context_;
  std::vector<bool> is_gone_;
  std::vector<int> uses_;  // steps that touch each tensor, once for each field
};

}  // namespace

int fuse_gated_products(Circuit& circuit, const RewriteContext& context) {
  return ProductFusion(circuit, context).fuse_gates();
}
int fuse_activated_products(Circuit& circuit, const RewriteContext& context) {
  return ProductFusion(circuit, context).fuse_curves();
}
int join_products(Circuit& circuit, const RewriteContext& context) { return ProductFusion(circuit, context).join(); }

}  // namespace ingot
