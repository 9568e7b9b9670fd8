#include "profile/gradient.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace ingot {
namespace {

// Views handed out by a builder are mutable memory; the descriptor only shows them as constant.
AnyView writable(const ConstAnyView& view) {
  return AnyView(const_cast<std::byte*>(view.data()), view.dtype(), view.shape(), view.byte_strides(), view.place());
}

// The forward call, its upstream gradients, and the memory that those and backward calls are made of.
class GradientCase {
 public:
  GradientCase(const Operation& operation, CaseBuilder& builder, GuardedCall& forward, Workers& workers)
      : operation_(operation), builder_(builder), forward_(forward), workers_(workers) {
    for (std::size_t index = 0; index < operation.fields.size(); ++index) {
      const FieldInformation& field = operation.fields[index];
      if (field.role != Role::output && field.role != Role::state) continue;
      const ConstAnyView view = forward.invocation().tensor(static_cast<int>(index));
      if (!is_present(view) || view.dtype() != DType::f32) continue;
      upstream_.emplace("d" + std::string(field.name), builder_.filled(view.shape(), Fill::uniform(-1, 1)));
    }
    // A state is overwritten by each run: remember what it held at the start.
    for (std::size_t index = 0; index < operation.fields.size(); ++index) {
      if (operation.fields[index].role != Role::state) continue;
      const ConstAnyView view = forward.invocation().tensor(static_cast<int>(index));
      if (!is_present(view)) continue;
      std::vector<std::byte> bytes;
      for_each_block(view, [&](std::int64_t offset) {
        bytes.insert(bytes.end(), view.data() + offset, view.data() + offset + block_bytes(view.dtype()));
      });
      states_.emplace_back(static_cast<int>(index), std::move(bytes));
    }
  }

  const Invocation& forward() const { return forward_.invocation(); }

  Result<void> run_forward() {
    for (const auto& [field, bytes] : states_) {
      const AnyView view = writable(forward().tensor(field));
      std::size_t position = 0;
      const auto size = static_cast<std::size_t>(block_bytes(view.dtype()));
      for_each_block(view, [&](std::int64_t offset) {
        std::memcpy(view.data() + offset, bytes.data() + position, size);
        position += size;
      });
    }
    return forward_.run(operation_.reference(), workers_);
  }

  // L = sum <dy, y>, in double.
  Result<double> loss() {
    TRY(run_forward());
    double sum = 0;
    for (const auto& [name, gradient] : upstream_) {
      const int field = operation_.field_index(std::string_view(name).substr(1));
      const ConstAnyView output = forward().tensor(field);
      std::int64_t position = 0;
      for_each_block(output, [&](std::int64_t offset) {
        float value;
        std::memcpy(&value, output.data() + offset, sizeof(value));
        sum += double{value} * gradient.data()[position++];
      });
    }
    return sum;
  }

  // Binds a backward operation's fields by name: forward fields as they are, "dy" to the upstream gradients, and each
  // written "dx" to fresh memory of x's shape.
  Result<std::unique_ptr<Invocation>> bind_backward(const Operation& backward) {
    std::unique_ptr<Invocation> bound = backward.empty();
    for (std::size_t index = 0; index < backward.fields.size(); ++index) {
      const FieldInformation& field = backward.fields[index];
      const int number = static_cast<int>(index);
      const int same = operation_.field_index(field.name);
      if (!field.is_tensor) {
        if (same < 0) return unbound(backward, field);
        bound->set_attribute(number, forward().attribute(same));
      } else if (is_written(field.role)) {
        const int source = field.name.starts_with("d") ? operation_.field_index(field.name.substr(1)) : -1;
        if (source < 0) return unbound(backward, field);
        const ConstAnyView view = forward().tensor(source);
        if (!is_present(view)) continue;  // the forward ran without it
        TRY(bound->set_tensor(number, builder_.blank_any(DType::f32, view.shape())));
      } else if (same >= 0) {
        if (is_present(forward().tensor(same))) {
          TRY(bound->set_tensor(number, writable(forward().tensor(same))));
        }
      } else if (const auto found = upstream_.find(field.name); found != upstream_.end()) {
        TRY(bound->set_tensor(number, AnyView(found->second)));
      } else if (field.presence == Presence::required) {
        return unbound(backward, field);
      }
    }
    TRY(bound->check());
    return bound;
  }

  // The numerical gradient with respect to one float of a forward tensor.
  Result<double> difference(float& value) {
    const float original = value;
    const float step = 0x1p-7f;
    double losses[4];
    double points[4];
    const float offsets[4] = {-2 * step, -step, step, 2 * step};
    for (int index = 0; index < 4; ++index) {
      value = original + offsets[index];
      points[index] = value;  // what was really stored
      const Result<double> result = loss();
      if (!result.ok()) {
        value = original;
        return result.error();
      }
      losses[index] = result.value();
    }
    value = original;
    const double near = (losses[2] - losses[1]) / (points[2] - points[1]);
    const double far = (losses[3] - losses[0]) / (points[3] - points[0]);
    return (4 * near - far) / 3;
  }

 private:
  static Error unbound(const Operation& backward, const FieldInformation& field) {
    return Error::of(ErrorCode::invalid_argument, backward.name, ": expected field '", field.name,
                     "' to have a counterpart in the forward operation, found none");
  }

  const Operation& operation_;
  CaseBuilder& builder_;
  GuardedCall& forward_;
  Workers& workers_;
  std::map<std::string, View<float>, std::less<>> upstream_;
  std::vector<std::pair<int, std::vector<std::byte>>> states_;
};

Result<double> compare_gradient(GradientCase& gradient_case, const Operation& operation, const Operation& backward,
                                const Invocation& backward_call, int backward_field) {
  const std::string_view name = backward.fields[static_cast<std::size_t>(backward_field)].name;
  const ConstAnyView analytic = backward_call.tensor(backward_field);
  const AnyView value = writable(gradient_case.forward().tensor(operation.field_index(name.substr(1))));
  if (value.dtype() != DType::f32) {
    return Error::of(ErrorCode::unsupported, operation.name, ": expected f32 in gradient case field '", name.substr(1),
                     "', found ", value.dtype());
  }
  std::vector<double> expected;
  std::vector<double> found;
  for_each_block(analytic, [&](std::int64_t offset) {
    float one;
    std::memcpy(&one, analytic.data() + offset, sizeof(one));
    found.push_back(one);
  });
  std::vector<std::int64_t> offsets;
  for_each_block(value, [&](std::int64_t offset) { offsets.push_back(offset); });
  double largest = 1e-3;  // gradients below this are noise of the finite difference
  for (std::int64_t offset : offsets) {
    expected.push_back(TRY(gradient_case.difference(*reinterpret_cast<float*>(value.data() + offset))));
    largest = std::max(largest, std::fabs(expected.back()));
  }
  double worst = 0;
  for (std::size_t index = 0; index < expected.size(); ++index) {
    const double error = std::fabs(expected[index] - found[index]) / largest;
    if (!(error <= gradient_tolerance)) {
      return Error::of(ErrorCode::corrupt, backward.name, " ", name, " element ", index, ": expected ",
                       std::to_string(expected[index]), " by finite differences, found ", std::to_string(found[index]));
    }
    worst = std::max(worst, error);
  }
  return worst;
}

}  // namespace

Result<double> check_gradient(const Operation& operation, std::span<const Operation* const> operations, int case_index,
                              std::uint64_t seed, Workers& workers, ProvingGround& ground) {
  const Placement placement = case_index % 2 == 0 ? Placement::behind : Placement::before;
  const std::string where = "case '" + operation.cases[static_cast<std::size_t>(case_index)].name + "'";
  double worst = 0;
  for (std::string_view name : operation.backward) {
    const auto found = std::find_if(operations.begin(), operations.end(),
                                    [&](const Operation* candidate) { return candidate->name == name; });
    if (found == operations.end()) {
      return Error::of(ErrorCode::not_found, operation.name, ": expected backward operation '", name, "', found none");
    }
    const Operation& backward = **found;
    CaseBuilder builder(seed, Regime::gradient, LayoutStyle::packed, 0xa5);
    const std::unique_ptr<Invocation> built = operation.build(case_index, builder);
    TRY(built->check());
    GuardedCall forward = TRY(GuardedCall::make(ground, operation, *built, placement, where));
    GradientCase gradient_case(operation, builder, forward, workers);
    TRY(gradient_case.run_forward());  // fills outputs and saved values that the backward reads
    const std::unique_ptr<Invocation> bound = TRY(gradient_case.bind_backward(backward));
    GuardedCall backward_call = TRY(GuardedCall::make(ground, backward, *bound, placement, where));
    TRY(backward_call.run(backward.reference(), workers));
    for (std::size_t index = 0; index < backward.fields.size(); ++index) {
      const int field = static_cast<int>(index);
      if (!is_written(backward.fields[index].role) || !is_present(bound->tensor(field))) continue;
      const Invocation& gradients = backward_call.invocation();
      worst = std::max(worst, TRY(compare_gradient(gradient_case, operation, backward, gradients, field)));
    }
  }
  return worst;
}

}  // namespace ingot
