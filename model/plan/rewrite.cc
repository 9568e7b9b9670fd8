#include "model/plan/rewrite.h"

#include <algorithm>

#include "model/plan/cache_lowering.h"
#include "model/plan/joint_heads.h"
#include "model/plan/norm_coding.h"
#include "model/plan/product_fusion.h"

namespace ingot {
namespace {

bool is_call_of(const Step& step, std::string_view operation) { return step.operation->name == operation; }

// Steps that touch each tensor.
std::vector<int> count_uses(const Circuit& circuit) {
  std::vector<int> uses(circuit.tensors.size(), 0);
  for (const Step& step : circuit.steps) {
    for (const BoundOperand& bound : step.operands) ++uses[static_cast<std::size_t>(bound.operand.tensor)];
  }
  return uses;
}

// y = f(gate) then up y: one pass over gate and up instead of two.
struct GateRule {
  std::string_view curve;
  std::string_view gate;
};
constexpr GateRule gate_rules[] = {{"activation.silu", "activation.swiglu"},
                                   {"activation.gelu", "activation.geglu"},
                                   {"activation.gelu_tanh", "activation.geglu_tanh"},
                                   {"activation.relu", "activation.reglu"}};

Result<int> fuse_gates(Circuit& circuit, const RewriteContext& context) {
  if (context.fusion == Fusion::none) return 0;
  const std::vector<int> uses = count_uses(circuit);
  std::vector<Step> kept;
  int count = 0;
  for (std::size_t index = 0; index < circuit.steps.size(); ++index) {
    const Step& curve = circuit.steps[index];
    const auto* rule = std::find_if(std::begin(gate_rules), std::end(gate_rules),
                                    [&](const GateRule& candidate) { return is_call_of(curve, candidate.curve); });
    const Step* product = index + 1 < circuit.steps.size() ? &circuit.steps[index + 1] : nullptr;
    const bool fits = rule != std::end(gate_rules) && product != nullptr && is_call_of(*product, "elementwise.mul") &&
                      *curve.find("y") == *product->find("a") &&
                      product->find("b")->shape == product->find("y")->shape &&
                      uses[static_cast<std::size_t>(curve.find("y")->tensor)] == 2;
    if (!fits) {
      kept.push_back(curve);
      continue;
    }
    Step fused = Step::of(rule->gate, product->name, product->layer);
    fused.bind("gate", *curve.find("x"));
    fused.bind("up", *product->find("b"));
    fused.bind("y", *product->find("y"));
    kept.push_back(std::move(fused));
    ++index;
    ++count;
  }
  circuit.steps = std::move(kept);
  return count;
}

// sum = x + residual, then rms_norm(sum): the sum is normalised while it is in cache.
Result<int> fuse_residual_norms(Circuit& circuit, const RewriteContext& context) {
  if (context.fusion != Fusion::all) return 0;
  std::vector<Step> kept;
  int count = 0;
  for (std::size_t index = 0; index < circuit.steps.size(); ++index) {
    const Step& add = circuit.steps[index];
    const Step* norm = index + 1 < circuit.steps.size() ? &circuit.steps[index + 1] : nullptr;
    const bool fits = is_call_of(add, "elementwise.residual_add") && norm != nullptr &&
                      is_call_of(*norm, "norm.rms_norm") && *add.find("y") == *norm->find("x");
    if (!fits) {
      kept.push_back(add);
      continue;
    }
    Step fused = Step::of("norm.residual_rms_norm", norm->name, norm->layer);
    fused.bind("x", *add.find("x"));
    fused.bind("residual", *add.find("residual"));
    fused.bind("gamma", *norm->find("gamma"));
    fused.bind("sum", *add.find("y"));
    fused.bind("y", *norm->find("y"));
    if (const AttributeValue* epsilon = norm->find_attribute("epsilon")) fused.set("epsilon", *epsilon);
    kept.push_back(std::move(fused));
    ++index;
    ++count;
  }
  circuit.steps = std::move(kept);
  return count;
}

Result<int> add_adapters(Circuit& circuit, const RewriteContext& context) {
  return context.adapters == nullptr ? 0 : insert_adapters(circuit, *context.adapters);
}

Result<int> lower_attention(Circuit& circuit, const RewriteContext& context) {
  if (context.cache == nullptr) return 0;
  return lower_to_cache(circuit, *context.cache, context.neighbours);
}

Result<int> use_packed(Circuit& circuit, const RewriteContext& context) {
  if (context.packed == nullptr) return 0;
  return use_packed_weights(circuit, *context.packed);
}

Result<int> use_laid_out(Circuit& circuit, const RewriteContext& context) {
  if (context.laid_out == nullptr) return 0;
  return use_laid_out_weights(circuit, *context.laid_out);
}

template <int (*fuse)(Circuit&)>
Result<int> only_for_inference(Circuit& circuit, const RewriteContext& context) {
  return context.fusion == Fusion::all ? fuse(circuit) : 0;
}
template <int (*fuse)(Circuit&, const RewriteContext&)>
Result<int> only_for_inference(Circuit& circuit, const RewriteContext& context) {
  return context.fusion == Fusion::all ? fuse(circuit, context) : 0;
}

template <int (*join)(Circuit&)>
Result<int> only_for_devices(Circuit& circuit, const RewriteContext& context) {
  return context.fusion == Fusion::all && context.is_for_device ? join(circuit) : 0;
}

constexpr Rewrite rewrites[] = {
    {"adapters", "a copy of the weights for each adapter", add_adapters},
    {"cache lowering", "computing the keys and values of the past again", lower_attention},
    {"packed weights", "reading a row of weights at a time", use_packed},
    {"weights laid out", "loading blocks a few bytes at a time on a device", use_laid_out},
    {"gated activation", "writing and reading the curve of the gate", fuse_gates},
    {"gated product", "writing and reading both factors, and encoding x twice",
     only_for_inference<fuse_gated_products>},
    {"activated product", "writing and reading what the curve is applied to",
     only_for_inference<fuse_activated_products>},
    {"joint product", "encoding x again, and waiting for the slowest thread", only_for_inference<join_products>},
    {"residual norm", "reading the sum again to normalise it", fuse_residual_norms},
    {"coded norm", "writing what is normalised, and reading it to encode it", only_for_inference<code_norms>},
    {"joint rotation", "launching another for the keys", only_for_devices<join_rotations>},
    {"joint store", "launching another for the values", only_for_devices<join_stores>},
    {"rotated store", "launching another to store what was turned", only_for_devices<join_rotations_with_stores>},
};

}  // namespace

std::span<const Rewrite> all_rewrites() { return rewrites; }

Result<void> apply_rewrites(Circuit& circuit, const RewriteContext& context) {
  for (const Rewrite& rewrite : rewrites) {
    const int count = TRY(rewrite.apply(circuit, context));
    if (count > 0) circuit.rewrites.push_back({rewrite.name, count});
  }
  return {};
}

}  // namespace ingot
