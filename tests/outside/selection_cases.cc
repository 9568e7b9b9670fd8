// ONNX nodes that choose elements: by size (TopK, ArgMax) or by index (the Gathers, and the Scatters that add).
#include <cmath>

#include "kernels/elementwise/reduce.h"
#include "kernels/elementwise/top_k.h"
#include "kernels/layout/gather_rows.h"
#include "kernels/layout/scatter_add.h"
#include "tests/outside/buffer.h"
#include "tests/outside/trial.h"

namespace ingot::outside {
namespace {

// Integers below 2^24 are the same numbers as floats, in the same order.
bool fits_floats(const HostTensor& tensor, Trial& trial) {
  for (double value : tensor.values) {
    if (tensor.is_float() || std::fabs(value) <= 0x1p24) continue;
    trial.not_applicable("Ingot chooses among f32; these integers are too large for it");
    return false;
  }
  return true;
}

Sizes without_last(Sizes shape) {
  shape.pop_back();
  return shape;
}

// ONNX may ask for the last of equal elements: it is the first of the reversed row.
void argmax(const OnnxCase& onnx, Trial& trial) {
  const HostTensor& x = onnx.required(0);
  if (!fits_floats(x, trial)) return;
  const int axis = resolved_axis(onnx.integer("axis", 0), x.rank());
  const bool takes_last = onnx.integer("select_last_index", 0) != 0;
  HostTensor rows = axis_to_end(x, axis);
  const std::int64_t width = rows.shape.back();
  if (takes_last) {
    for (auto row = rows.values.begin(); row != rows.values.end(); row += width) std::reverse(row, row + width);
  }
  Floats input(rows);
  Buffer<std::int32_t> indices(without_last(rows.shape));
  trial.run<Argmax>({.x = input.view(), .indices = indices.view()});
  std::vector<double> found = indices.values();
  for (double& index : found) index = takes_last ? static_cast<double>(width - 1) - index : index;
  trial.expect(0, found);  // keepdims changes the shape, not the order
}

void top_k(const OnnxCase& onnx, Trial& trial) {
  const HostTensor& x = onnx.required(0);
  if (!fits_floats(x, trial)) return;
  const int axis = resolved_axis(onnx.integer("axis", -1), x.rank());
  const HostTensor rows = axis_to_end(x, axis);
  Floats input(rows);
  Sizes shape = rows.shape;
  // Before version 10 the count was an attribute.
  shape.back() = onnx.has("k") ? onnx.integer("k", 1) : static_cast<std::int64_t>(onnx.required(1).values.at(0));
  Floats values(shape);
  Buffer<std::int32_t> indices(shape);
  trial.run<ElementwiseTopK>({.x = input.view(),
                              .largest = onnx.integer("largest", 1) != 0,
                              .values = values.view(),
                              .indices = indices.view()});
  trial.expect(0, axis_from_end(values.host(), axis).values);
  trial.expect(1, axis_from_end(indices.host(), axis).values);
}

// Rows of a table by index, where negative indices count from the end.
std::vector<double> rows_at(Trial& trial, const HostTensor& table, const std::vector<double>& places) {
  HostTensor wanted{"i32", {static_cast<std::int64_t>(places.size())}, places};
  Floats source(table);
  Buffer<std::int32_t> indices(wanted);
  Floats y(Sizes{wanted.count(), table.size(1)});
  trial.run<GatherRows>({.table = source.view(), .indices = indices.view(), .y = y.view()});
  return y.values();
}

std::vector<double> not_negative(std::vector<double> indices, std::int64_t size) {
  for (double& index : indices) index = index < 0 ? index + static_cast<double>(size) : index;
  return indices;
}

void gather(const OnnxCase& onnx, Trial& trial) {
  const HostTensor& data = onnx.required(0);
  const HostTensor& indices = onnx.required(1);
  if (!fits_floats(data, trial)) return;
  const int axis = resolved_axis(onnx.integer("axis", 0), data.rank());
  const std::int64_t size = data.size(axis);
  std::vector<int> axis_first = {axis};
  Sizes before;
  Sizes behind;
  for (int other = 0; other < data.rank(); ++other) {
    if (other == axis) continue;
    axis_first.push_back(other);
    (other < axis ? before : behind).push_back(data.size(other));
  }
  const std::int64_t width = size == 0 ? 0 : data.count() / size;
  const HostTensor table = reshaped(permuted(data, axis_first), {size, width});
  HostTensor found{"f32", {indices.count(), count_of(before), count_of(behind)}, {}};
  found.values = rows_at(trial, table, not_negative(indices.values, size));
  trial.expect(0, permuted(found, {1, 0, 2}).values);
}

// Elements one by one, by their place in the flat table: what GatherElements and ScatterElements address.
std::vector<double> element_places(const HostTensor& data, const HostTensor& indices, int axis) {
  std::vector<double> places = not_negative(indices.values, data.size(axis));
  for (std::int64_t index = 0; index < indices.count(); ++index) {
    std::int64_t rest = index;
    std::int64_t step = 1;
    double place = 0;
    for (int other = data.rank() - 1; other >= 0; --other) {
      const std::int64_t own = rest % indices.size(other);
      rest /= indices.size(other);
      const double at = other == axis ? places[static_cast<std::size_t>(index)] : static_cast<double>(own);
      place += at * static_cast<double>(step);
      step *= data.size(other);
    }
    places[static_cast<std::size_t>(index)] = place;
  }
  return places;
}

void gather_elements(const OnnxCase& onnx, Trial& trial) {
  const HostTensor& data = onnx.required(0);
  if (!fits_floats(data, trial)) return;
  const int axis = resolved_axis(onnx.integer("axis", 0), data.rank());
  trial.expect(0, rows_at(trial, reshaped(data, {data.count(), 1}), element_places(data, onnx.required(1), axis)));
}

// What GatherND and ScatterND address: rows behind the axes that a tuple of indices names.
struct TuplePlaces {
  std::vector<double> rows;
  std::int64_t width = 1;
};

TuplePlaces tuple_places(const HostTensor& data, const HostTensor& indices, std::int64_t batch_axes) {
  TuplePlaces result;
  const std::int64_t depth = indices.shape.back();
  const auto named = static_cast<int>(batch_axes + depth);
  for (int axis = named; axis < data.rank(); ++axis) result.width *= data.size(axis);
  std::int64_t batches = 1;
  for (int axis = 0; axis < batch_axes; ++axis) batches *= data.size(axis);
  const std::int64_t tuples = depth == 0 ? 0 : indices.count() / depth;
  for (std::int64_t tuple = 0; tuple < tuples; ++tuple) {
    auto place = static_cast<double>(tuple / std::max<std::int64_t>(tuples / batches, 1));
    for (std::int64_t part = 0; part < depth; ++part) {
      const std::int64_t size = data.size(static_cast<int>(batch_axes + part));
      const double index = indices.values[static_cast<std::size_t>(tuple * depth + part)];
      place = place * static_cast<double>(size) + (index < 0 ? index + static_cast<double>(size) : index);
    }
    result.rows.push_back(place);
  }
  return result;
}

HostTensor as_table(const HostTensor& data, std::int64_t width) {
  return reshaped(data, {width == 0 ? 0 : data.count() / width, width});
}

void gather_nd(const OnnxCase& onnx, Trial& trial) {
  const HostTensor& data = onnx.required(0);
  if (!fits_floats(data, trial)) return;
  const TuplePlaces places = tuple_places(data, onnx.required(1), onnx.integer("batch_dims", 0));
  trial.expect(0, rows_at(trial, as_table(data, places.width), places.rows));
}

void scatter(const OnnxCase& onnx, Trial& trial, const TuplePlaces& places) {
  const HostTensor& data = onnx.required(0);
  if (!fits_floats(data, trial)) return;
  const std::string reduction = onnx.text("reduction", "none");
  if (reduction != "add") return trial.not_applicable("Ingot's scatter adds; this one's reduction is " + reduction);
  const auto count = static_cast<std::int64_t>(places.rows.size());
  Floats base(as_table(data, places.width));
  Floats x(reshaped(onnx.required(2), {count, places.width}));
  Buffer<std::int32_t> indices(HostTensor{"i32", {count}, places.rows});
  Floats y(as_table(data, places.width).shape);
  trial.run<ScatterAdd>({.base = base.view(), .x = x.view(), .indices = indices.view(), .y = y.view()});
  trial.expect(0, y.values());
}

void scatter_nd(const OnnxCase& onnx, Trial& trial) {
  scatter(onnx, trial, tuple_places(onnx.required(0), onnx.required(1), 0));
}

void scatter_elements(const OnnxCase& onnx, Trial& trial) {
  const HostTensor& data = onnx.required(0);
  const int axis = resolved_axis(onnx.integer("axis", 0), data.rank());
  scatter(onnx, trial, {element_places(data, onnx.required(1), axis), 1});
}

}  // namespace

std::span<const Adapter> selection_adapters() {
  static constexpr Adapter adapters[] = {
      {"ArgMax", argmax},
      {"Gather", gather},
      {"GatherElements", gather_elements},
      {"GatherND", gather_nd},
      {"ScatterElements", scatter_elements},
      {"ScatterND", scatter_nd},
      {"TopK", top_k},
  };
  return adapters;
}

}  // namespace ingot::outside
