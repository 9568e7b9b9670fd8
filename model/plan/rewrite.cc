#include "model/plan/rewrite.h"

#include <algorithm>

#include "kernels/all_operations.h"

namespace ingot {
namespace {

bool is_call_of(const Step& step, std::string_view operation) { return step.operation->name == operation; }

bool same_view(const Operand& left, const Operand& right) {
  return left.tensor == right.tensor && left.shape == right.shape && left.byte_strides == right.byte_strides &&
         left.byte_offset == right.byte_offset;
}

// Steps that touch each tensor.
std::vector<int> count_uses(const Circuit& circuit) {
  std::vector<int> uses(circuit.tensors.size(), 0);
  for (const Step& step : circuit.steps) {
    for (const BoundOperand& bound : step.operands) ++uses[static_cast<std::size_t>(bound.operand.tensor)];
  }
  return uses;
}

Step fused_step(const Step& last, std::string_view operation) {
  Step step;
  step.operation = find_operation(operation);
  step.name = last.name;
  step.layer = last.layer;
  return step;
}

void bind(Step& step, std::string_view field, const Operand& operand) {
  step.operands.push_back({step.operation->field_index(field), operand});
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

int fuse_gates(Circuit& circuit) {
  const std::vector<int> uses = count_uses(circuit);
  std::vector<Step> kept;
  int count = 0;
  for (std::size_t index = 0; index < circuit.steps.size(); ++index) {
    const Step& curve = circuit.steps[index];
    const auto* rule = std::find_if(std::begin(gate_rules), std::end(gate_rules),
                                    [&](const GateRule& candidate) { return is_call_of(curve, candidate.curve); });
    const Step* product = index + 1 < circuit.steps.size() ? &circuit.steps[index + 1] : nullptr;
    const bool fits = rule != std::end(gate_rules) && product != nullptr && is_call_of(*product, "elementwise.mul") &&
                      same_view(*curve.find("y"), *product->find("a")) &&
                      product->find("b")->shape == product->find("y")->shape &&
                      uses[static_cast<std::size_t>(curve.find("y")->tensor)] == 2;
    if (!fits) {
      kept.push_back(curve);
      continue;
    }
    Step fused = fused_step(*product, rule->gate);
    bind(fused, "gate", *curve.find("x"));
    bind(fused, "up", *product->find("b"));
    bind(fused, "y", *product->find("y"));
    kept.push_back(std::move(fused));
    ++index;
    ++count;
  }
  circuit.steps = std::move(kept);
  return count;
}

// sum = x + residual, then rms_norm(sum): the sum is normalised while it is in cache.
int fuse_residual_norms(Circuit& circuit) {
  std::vector<Step> kept;
  int count = 0;
  for (std::size_t index = 0; index < circuit.steps.size(); ++index) {
    const Step& add = circuit.steps[index];
    const Step* norm = index + 1 < circuit.steps.size() ? &circuit.steps[index + 1] : nullptr;
    const bool fits = is_call_of(add, "elementwise.residual_add") && norm != nullptr &&
                      is_call_of(*norm, "norm.rms_norm") && same_view(*add.find("y"), *norm->find("x"));
    if (!fits) {
      kept.push_back(add);
      continue;
    }
    Step fused = fused_step(*norm, "norm.residual_rms_norm");
    bind(fused, "x", *add.find("x"));
    bind(fused, "residual", *add.find("residual"));
    bind(fused, "gamma", *norm->find("gamma"));
    bind(fused, "sum", *add.find("y"));
    bind(fused, "y", *norm->find("y"));
    const int epsilon = norm->operation->field_index("epsilon");
    for (const BoundAttribute& attribute : norm->attributes) {
      if (attribute.field == epsilon) {
        fused.attributes.push_back({fused.operation->field_index("epsilon"), attribute.value});
      }
    }
    kept.push_back(std::move(fused));
    ++index;
    ++count;
  }
  circuit.steps = std::move(kept);
  return count;
}

constexpr Rewrite rewrites[] = {
    {"gated activation", "writing and reading the curve of the gate", fuse_gates},
    {"residual norm", "reading the sum again to normalise it", fuse_residual_norms},
};

}  // namespace

std::span<const Rewrite> all_rewrites() { return rewrites; }

int apply_rewrites(Circuit& circuit) {
  int count = 0;
  for (const Rewrite& rewrite : rewrites) count += rewrite.apply(circuit);
  return count;
}

}  // namespace ingot
