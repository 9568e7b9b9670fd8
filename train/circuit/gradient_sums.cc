#include "train/circuit/gradient_sums.h"

#include <algorithm>

#include "kernels/all_operations.h"

namespace ingot {
namespace {

constexpr std::int64_t float_bytes = sizeof(float);

// Calls function(first element, count) for every run of neighbouring elements of a view of floats.
template <class Function>
void for_each_stretch(const Operand& view, const Function& function) {
  const int last = view.shape.rank() - 1;
  const bool is_packed = last >= 0 && view.byte_strides[last] == float_bytes;
  const std::int64_t length = is_packed ? view.shape[last] : 1;
  const int axes = is_packed ? last : last + 1;
  if (element_count(view.shape) == 0) return;
  std::vector<std::int64_t> index(static_cast<std::size_t>(axes), 0);
  std::int64_t offset = view.byte_offset;
  for (;;) {
    function(offset / float_bytes, length);
    int axis = axes - 1;
    for (; axis >= 0; --axis) {
      auto& position = index[static_cast<std::size_t>(axis)];
      offset += view.byte_strides[axis];
      if (++position < view.shape[axis]) break;
      offset -= position * view.byte_strides[axis];
      position = 0;
    }
    if (axis < 0) return;
  }
}

bool overlaps(const std::vector<bool>& is_written, const Operand& view) {
  bool found = false;
  for_each_stretch(view, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t element = first; element < first + count; ++element) {
      found |= is_written[static_cast<std::size_t>(element)];
    }
  });
  return found;
}

void mark(std::vector<bool>& is_written, const Operand& view) {
  for_each_stretch(view, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t element = first; element < first + count; ++element) {
      is_written[static_cast<std::size_t>(element)] = true;
    }
  });
}

}  // namespace

std::string gradient_name(std::string_view tensor) { return "d(" + std::string(tensor) + ")"; }

bool GradientSums::is_whole(const Operand& operand) const {
  return element_count(operand.shape) == element_count(tensor_of(operand).shape);
}

Operand GradientSums::view_of(int tensor, const Operand& operand) const {
  const std::int64_t element_bytes = block_bytes(tensor_of(operand).dtype);
  Operand view = operand;
  view.tensor = tensor;
  view.byte_offset = operand.byte_offset / element_bytes * float_bytes;
  for (int axis = 0; axis < view.shape.rank(); ++axis) {
    view.byte_strides[axis] = operand.byte_strides[axis] / element_bytes * float_bytes;
  }
  return view;
}

Operand GradientSums::whole_of(int tensor) const {
  const Shape& shape = circuit_.tensors[static_cast<std::size_t>(tensor)].shape;
  return {tensor, shape, contiguous_byte_strides(DType::f32, shape), 0};
}

int GradientSums::add_tensor(const CircuitTensor& of, Storage storage, std::string name) {
  const Shape shape = of.shape;  // `of` lies in the list that grows
  circuit_.tensors.push_back({.name = std::move(name), .storage = storage, .dtype = DType::f32, .shape = shape});
  return static_cast<int>(circuit_.tensors.size()) - 1;
}

Operand GradientSums::unwanted(const Operand& operand) {
  const CircuitTensor& tensor = tensor_of(operand);
  const int copy = copies_[operand.tensor]++;
  CircuitTensor shaped = tensor;
  shaped.shape = operand.shape;
  return whole_of(
      add_tensor(shaped, Storage::activation, gradient_name(tensor.name) + ".unwanted" + std::to_string(copy)));
}

Operand GradientSums::place(const Operand& operand) {
  const CircuitTensor& tensor = tensor_of(operand);
  if (tensor.storage == Storage::weight) return place_weight(operand);
  Parts& parts = gradients_[operand.tensor];
  const std::int64_t elements = element_count(tensor.shape);
  const auto add_part = [&](std::int64_t missing) {
    const int copy = copies_[operand.tensor]++;
    const std::string name = gradient_name(tensor.name) + (copy == 0 ? "" : "." + std::to_string(copy));
    parts.push_back({.tensor = add_tensor(tensor, Storage::activation, name), .missing = missing});
  };
  if (is_whole(operand)) {
    add_part(0);
    return view_of(parts.back().tensor, operand);
  }
  const Operand region = view_of(operand.tensor, operand);
  auto part = std::ranges::find_if(
      parts, [&](const Part& one) { return !one.is_written.empty() && !overlaps(one.is_written, region); });
  if (part == parts.end()) {
    add_part(elements);
    parts.back().is_written.assign(static_cast<std::size_t>(elements), false);
    part = parts.end() - 1;
  }
  mark(part->is_written, region);
  part->missing -= element_count(region.shape);
  part->regions.push_back(view_of(part->tensor, operand));
  return part->regions.back();
}

Operand GradientSums::place_weight(const Operand& operand) {
  const std::string name = gradient_name(tensor_of(operand).name);
  const auto [found, is_new] = weight_gradients_.try_emplace(operand.tensor, -1);
  if (is_new) found->second = add_tensor(tensor_of(operand), Storage::gradient, name);
  const int sum = found->second;
  if (is_new && !accumulates_ && is_whole(operand)) return view_of(sum, operand);
  if (is_new && !accumulates_) added_to_.insert(tensor_of(operand).name);

  const int copy = copies_[operand.tensor]++;
  const int part = add_tensor(tensor_of(operand), Storage::activation, name + "." + std::to_string(copy + 1));
  Step addition{.operation = find_operation("optimizer.accumulate_gradient"), .name = name, .layer = layer_};
  const auto bind = [&](std::string_view field, const Operand& view) {
    addition.operands.push_back({addition.operation->field_index(field), view});
  };
  bind("gradient", view_of(part, operand));
  bind("accumulator", view_of(sum, operand));
  pending_.push_back(std::move(addition));
  return view_of(part, operand);
}

void GradientSums::flush() {
  for (Step& step : pending_) circuit_.steps.push_back(std::move(step));
  pending_.clear();
}

void GradientSums::pass_on(const Operand& operand, const Operand& derivative) {
  gradients_[operand.tensor].push_back({.tensor = derivative.tensor, .is_own = false});
}

Result<Operand> GradientSums::read(const Operand& operand) {
  Parts& parts = gradients_.find(operand.tensor)->second;
  TRY(sum_up(operand.tensor, parts));
  return view_of(parts[0].tensor, operand);
}

void GradientSums::emit_add(const Operand& a, const Operand& b, const Operand& y) {
  Step step{.operation = find_operation("elementwise.add"),
            .name = circuit_.tensors[static_cast<std::size_t>(y.tensor)].name,
            .layer = layer_};
  const auto bind = [&](std::string_view field, const Operand& view) {
    step.operands.push_back({step.operation->field_index(field), view});
  };
  bind("a", a);
  bind("b", b);
  bind("y", y);
  circuit_.steps.push_back(std::move(step));
}

// Afterwards there is one part, and it is whole.
Result<void> GradientSums::sum_up(int tensor, Parts& parts) {
  std::ranges::stable_partition(parts, [](const Part& part) { return part.missing == 0; });
  if (parts[0].missing > 0) {
    return Error::of(ErrorCode::unsupported, circuit_.tensors[static_cast<std::size_t>(tensor)].name,
                     ": expected every element to take part in the result, found ", parts[0].missing,
                     " that no step reads");
  }
  Part sum = parts[0];
  for (std::size_t index = 1; index < parts.size(); ++index) {
    const Part& part = parts[index];
    // A part may be of another shape, where a gradient was passed on: the elements are the same.
    const Operand shape = whole_of(part.tensor);
    Operand so_far = shape;
    so_far.tensor = sum.tensor;
    if (part.missing > 0) {
      TRY(add_regions(sum, part));
    } else if (part.is_own) {
      emit_add(so_far, shape, shape);
      sum = part;
    } else if (sum.is_own) {
      emit_add(so_far, shape, so_far);
    } else {
      const CircuitTensor& of = circuit_.tensors[static_cast<std::size_t>(tensor)];
      const std::string name = gradient_name(of.name) + ".sum";
      Operand fresh = shape;
      fresh.tensor = add_tensor(of, Storage::activation, name);
      emit_add(so_far, shape, fresh);
      sum = {.tensor = fresh.tensor};
    }
  }
  sum.regions.clear();
  sum.is_written.clear();
  parts = {sum};
  return {};
}

Result<void> GradientSums::add_regions(Part& sum, const Part& part) {
  if (!sum.is_own) {
    return Error::of(ErrorCode::unsupported, circuit_.tensors[static_cast<std::size_t>(part.tensor)].name,
                     ": expected a gradient of its own to add a part to, found one that is another tensor's too");
  }
  for (const Operand& region : part.regions) {
    Operand target = region;
    target.tensor = sum.tensor;
    emit_add(target, region, target);
  }
  return {};
}

}  // namespace ingot
