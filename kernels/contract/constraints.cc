#include "kernels/contract/constraints.h"

#include <cstdlib>

#include "kernels/contract/footprint.h"

namespace ingot {
namespace {

// A view whose axes either go by multiples of `step` or stay within one step occupies, of every step, the same few
// bytes from its first on. Returns their number; 0: the view is not like that.
std::uintptr_t bytes_of_each_step(const ConstAnyView& view, std::int64_t step) {
  const Shape shape = block_counts(view);
  std::int64_t inner = block_bytes(view.dtype());
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    const std::int64_t stride = std::abs(view.byte_stride(axis));
    if (stride % step == 0) continue;
    if (stride > step) return 0;
    inner += (shape[axis] - 1) * stride;
    if (inner > step) return 0;
  }
  return static_cast<std::uintptr_t>(inner);
}

// Whether the two take different bytes of every step.
bool interleave(const ConstAnyView& first, const ConstAnyView& second, std::int64_t step) {
  const std::uintptr_t left = bytes_of_each_step(first, step);
  const std::uintptr_t right = bytes_of_each_step(second, step);
  if (left == 0 || right == 0) return false;
  const auto period = static_cast<std::uintptr_t>(step);
  const std::uintptr_t distance =
      (footprint_of(second).begin % period + period - footprint_of(first).begin % period) % period;
  return distance >= left && distance + right <= period;
}

bool same_elements(const ConstAnyView& first, const ConstAnyView& second) {
  return first.data() == second.data() && first.dtype() == second.dtype() && first.shape() == second.shape() &&
         first.byte_strides() == second.byte_strides();
}

bool is_allowed_in_place(const BoundTensor& written, const BoundTensor& other, std::span<const InPlace> in_place) {
  for (const InPlace& pair : in_place) {
    if (pair.written == written.name && pair.read == other.name) return same_elements(written.view, other.view);
  }
  return false;
}

Result<void> check_one(std::string_view operation, const BoundTensor& tensor) {
  if (!is_present(tensor.view)) {
    if (tensor.presence == Presence::optional) return {};
    return violated(operation, "C0", "expected ", tensor.name, ", found that it was left out");
  }
  const Result<void> well_formed = check_well_formed(tensor.view);
  if (!well_formed.ok()) return violated(operation, "C0", tensor.name, ": ", well_formed.error().text());
  if (!is_written(tensor.role)) return {};
  for (int axis = 0; axis < tensor.view.rank(); ++axis) {
    if (tensor.view.size(axis) > 1 && tensor.view.byte_stride(axis) == 0) {
      return violated(operation, "C0", "expected ", tensor.name,
                      " with an address for each element, found stride 0 on axis ", axis, " of ", tensor.view.shape());
    }
  }
  return {};
}

Result<void> check_places(std::string_view operation, std::span<const BoundTensor> tensors) {
  const BoundTensor* first = nullptr;
  for (const BoundTensor& tensor : tensors) {
    if (!is_present(tensor.view)) continue;
    if (first == nullptr) first = &tensor;
    if (tensor.view.place() == first->view.place()) continue;
    return violated(operation, "C0", "expected all tensors in one place, found ", first->name, " on ",
                    first->view.place(), " and ", tensor.name, " on ", tensor.view.place());
  }
  return {};
}

}  // namespace

bool may_overlap(const ConstAnyView& first, const ConstAnyView& second) {
  const Footprint left = footprint_of(first);
  const Footprint right = footprint_of(second);
  if (left.begin >= right.end || right.begin >= left.end) return false;
  for (int axis = 0; axis < first.rank(); ++axis) {
    const std::int64_t step = std::abs(first.byte_stride(axis));
    if (first.size(axis) > 1 && step > 0 && interleave(first, second, step)) return false;
  }
  return true;
}

Result<void> check_tensors(std::string_view operation, std::span<const BoundTensor> tensors,
                           std::span<const InPlace> in_place) {
  TRY(check_places(operation, tensors));
  for (const BoundTensor& tensor : tensors) TRY(check_one(operation, tensor));
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    const BoundTensor& written = tensors[index];
    if (!is_written(written.role)) continue;
    for (std::size_t other = 0; other < tensors.size(); ++other) {
      // Two written tensors are compared once.
      if (other == index || (is_written(tensors[other].role) && other < index)) continue;
      if (!may_overlap(written.view, tensors[other].view)) continue;
      if (is_allowed_in_place(written, tensors[other], in_place)) continue;
      return violated(operation, "C0", "expected ", written.name, " to share no memory with ", tensors[other].name,
                      ", found that they overlap");
    }
  }
  return {};
}

Result<void> require_rank(std::string_view operation, std::string_view number, std::string_view field,
                          const ConstAnyView& view, int rank) {
  return require_rank_between(operation, number, field, view, rank, rank);
}

Result<void> require_rank_between(std::string_view operation, std::string_view number, std::string_view field,
                                  const ConstAnyView& view, int lowest, int highest) {
  if (view.rank() >= lowest && view.rank() <= highest) return {};
  if (lowest == highest) {
    return violated(operation, number, "expected ", field, " of rank ", lowest, ", found shape ", view.shape());
  }
  return violated(operation, number, "expected ", field, " of rank ", lowest, " to ", highest, ", found shape ",
                  view.shape());
}

Result<void> require_shape(std::string_view operation, std::string_view number, std::string_view field,
                           const ConstAnyView& view, const Shape& shape) {
  if (view.shape() == shape) return {};
  return violated(operation, number, "expected ", field, " of shape ", shape, ", found ", view.shape());
}

Result<void> require_dtype(std::string_view operation, std::string_view number, std::string_view field,
                           const ConstAnyView& view, std::initializer_list<DType> allowed) {
  FixedText<160> names;
  for (DType dtype : allowed) {
    if (view.dtype() == dtype) return {};
    names.append_all(names.view().empty() ? "" : " or ", name_of(dtype));
  }
  return violated(operation, number, "expected ", field, " of type ", names.view(), ", found ", view.dtype());
}

Result<void> require_contiguous_rows(std::string_view operation, std::string_view number, std::string_view field,
                                     const ConstAnyView& view) {
  if (view.has_contiguous_rows()) return {};
  return violated(operation, number, "expected ", field, " with a packed last axis, found byte strides ",
                  view.byte_strides(), " for ", view.dtype(), " ", view.shape());
}

Result<void> require_contiguous(std::string_view operation, std::string_view number, std::string_view field,
                                const ConstAnyView& view) {
  if (view.is_contiguous()) return {};
  return violated(operation, number, "expected ", field, " contiguous, found byte strides ", view.byte_strides(),
                  " for ", view.dtype(), " ", view.shape());
}

}  // namespace ingot
