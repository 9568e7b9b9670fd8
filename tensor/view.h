// View<T>: a typed window on memory that somebody else owns. Slicing, transposing, broadcasting and reshaping make new
// views of the same bytes; only a copy operation moves data.
#pragma once

#include <span>
#include <type_traits>

#include "tensor/dtype.h"
#include "tensor/place.h"
#include "tensor/shape.h"

namespace ingot {

template <class Element>
class View {
 public:
  using element_type = Element;

  constexpr View() = default;
  // Trusted: the caller vouches that every element lies inside its storage.
  constexpr View(Element* data, const Shape& shape) : View(data, shape, contiguous_strides(shape)) {}
  constexpr View(Element* data, const Shape& shape, const Strides& strides, Place place = Place::host)
      : data_(data), shape_(shape), strides_(strides), place_(place) {}
  // A mutable view reads as a constant one. (A template, so that it never stands in for the copy constructor.)
  template <class Mutable>
    requires(std::is_const_v<Element> && std::is_same_v<const Mutable, Element>)
  constexpr View(const View<Mutable>& other) : View(other.data(), other.shape(), other.strides(), other.place()) {}

  // Checked: fails unless every element lies inside `storage`, `origin` elements from its start being the view's first.
  static Result<View> over(std::span<Element> storage, const Shape& shape, const Strides& strides,
                           std::int64_t origin = 0) {
    const OffsetRange range = TRY(offset_range(shape, strides));
    const auto available = static_cast<std::int64_t>(storage.size());
    const std::int64_t begin = TRY(checked_add(origin, range.begin));
    const std::int64_t end = TRY(checked_add(origin, range.end));
    if (range.begin != range.end && (begin < 0 || end > available)) {
      return Error::of(ErrorCode::out_of_range, "expected elements within [0, ", available, "), found [", begin, ", ",
                       end, ") for shape ", shape, " strides ", strides);
    }
    const bool is_empty = range.begin == range.end;
    // A stride that is never taken may be any number; as 0 it cannot overflow in later arithmetic.
    Strides taken = strides;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (is_empty || shape[axis] == 1) taken[axis] = 0;
    }
    return View(is_empty ? storage.data() : storage.data() + origin, shape, taken);
  }
  static Result<View> over(std::span<Element> storage, const Shape& shape) {
    TRY(offset_range(shape, Strides(shape)));  // rejects negative and overflowing sizes before strides are made of them
    return over(storage, shape, contiguous_strides(shape));
  }

  constexpr Element* data() const { return data_; }
  constexpr const Shape& shape() const { return shape_; }
  constexpr const Strides& strides() const { return strides_; }
  constexpr Place place() const { return place_; }
  constexpr int rank() const { return shape_.rank(); }
  constexpr std::int64_t size(int axis) const { return shape_[axis]; }
  constexpr std::int64_t stride(int axis) const { return strides_[axis]; }
  constexpr std::int64_t count() const { return element_count(shape_); }
  constexpr bool empty() const { return count() == 0; }

  // Unchecked element access: one index per axis.
  template <class... Index>
  constexpr Element& operator()(Index... index) const {
    int axis = 0;
    std::int64_t offset = 0;
    ((offset += static_cast<std::int64_t>(index) * strides_[axis++]), ...);
    return data_[offset];
  }

  // Row-major packed: the elements are one uninterrupted stretch in index order.
  constexpr bool is_contiguous() const {
    std::int64_t step = 1;
    for (int axis = rank() - 1; axis >= 0; --axis) {
      if (shape_[axis] != 1 && strides_[axis] != step) return false;
      step *= shape_[axis];
    }
    return true;
  }
  // The last axis is one stretch; rows may lie anywhere.
  constexpr bool has_contiguous_rows() const { return rank() == 0 || shape_.last() <= 1 || strides_.last() == 1; }

  // The view with the first axis fixed. Precondition: rank() >= 1, index in range.
  constexpr View operator[](std::int64_t index) const {
    View inner(moved(index * strides_[0]), {}, {}, place_);
    for (int axis = 1; axis < rank(); ++axis) {
      inner.shape_.push_back(shape_[axis]);
      inner.strides_.push_back(strides_[axis]);
    }
    return inner;
  }

  Result<View> transposed(int first, int second) const {
    TRY(require_axis(first));
    TRY(require_axis(second));
    View view = *this;
    std::swap(view.shape_[first], view.shape_[second]);
    std::swap(view.strides_[first], view.strides_[second]);
    return view;
  }

  // Elements begin, begin + step, ... below end along one axis.
  Result<View> slice(int axis, std::int64_t begin, std::int64_t end, std::int64_t step = 1) const {
    TRY(require_axis(axis));
    if (step < 1 || begin < 0 || begin > end || end > shape_[axis]) {
      return Error::of(ErrorCode::out_of_range, "expected 0 <= begin <= end <= ", shape_[axis],
                       " and step >= 1, found [", begin, ", ", end, ") step ", step, " on axis ", axis, " of ", shape_);
    }
    View view = *this;
    view.data_ = moved(begin * strides_[axis]);
    view.shape_[axis] = divide_rounding_up(end - begin, step);
    view.strides_[axis] = strides_[axis] * step;
    return view;
  }

  // Axes of size 1, and missing leading axes, repeat: their stride becomes 0.
  Result<View> broadcast_to(const Shape& target) const {
    View view(data_, target, target, place_);
    const int missing = target.rank() - rank();
    for (int axis = 0; axis < target.rank(); ++axis) {
      const bool own = axis >= missing;
      const std::int64_t size = own ? shape_[axis - missing] : 1;
      if (missing < 0 || (size != target[axis] && size != 1)) {
        return Error::of(ErrorCode::invalid_argument, "expected a shape that repeats to ", target, ", found ", shape_);
      }
      view.strides_[axis] = size == target[axis] && own ? strides_[axis - missing] : 0;
    }
    if (missing < 0) {
      return Error::of(ErrorCode::invalid_argument, "expected a rank of at most ", target.rank(), ", found ", shape_);
    }
    return view;
  }

  // The same elements in the same order under another shape; needs a contiguous view, for otherwise it would be a copy.
  Result<View> reshaped(const Shape& target) const {
    TRY(offset_range(target, Strides(target)));
    if (!is_contiguous()) {
      return Error::of(ErrorCode::invalid_argument, "expected a contiguous view to reshape, found strides ", strides_,
                       " for shape ", shape_);
    }
    if (element_count(target) != count()) {
      return Error::of(ErrorCode::invalid_argument, "expected ", count(), " elements as in ", shape_, ", found ",
                       element_count(target), " in ", target);
    }
    return View(data_, target, contiguous_strides(target), place_);
  }

  // Overlapping windows of `length` elements, `step` apart, along the last axis: a new last axis without a copy.
  Result<View> windows(std::int64_t length, std::int64_t step) const {
    if (rank() == 0 || rank() == max_rank || length < 1 || step < 1 || length > shape_.last()) {
      return Error::of(ErrorCode::out_of_range, "expected 1 <= length <= last axis, step >= 1 and rank 1 to ",
                       max_rank - 1, ", found length ", length, " step ", step, " on ", shape_);
    }
    View view = *this;
    const int axis = rank() - 1;
    view.shape_[axis] = (shape_[axis] - length) / step + 1;
    view.strides_[axis] = strides_[axis] * step;
    view.shape_.push_back(length);
    view.strides_.push_back(strides_[axis]);
    return view;
  }

 private:
  // An empty view may have no data: there is nothing to move along then.
  constexpr Element* moved(std::int64_t offset) const { return data_ == nullptr ? data_ : data_ + offset; }

  Result<void> require_axis(int axis) const {
    if (axis < 0 || axis >= rank()) {
      return Error::of(ErrorCode::out_of_range, "expected an axis in [0, ", rank(), "), found ", axis, " for ", shape_);
    }
    return {};
  }

  Element* data_ = nullptr;
  Shape shape_;
  Strides strides_;
  Place place_ = Place::host;
};

}  // namespace ingot
