// ONNX softmaxes over any axis; Ingot's is over the last one.
#include "kernels/attention/softmax/log_softmax.h"
#include "kernels/attention/softmax/softmax.h"
#include "tests/outside/buffer.h"
#include "tests/outside/trial.h"

namespace ingot::outside {
namespace {

template <class Run>
void over_axis(const OnnxCase& onnx, Trial& trial, Run run) {
  const HostTensor& x = onnx.required(0);
  if (onnx.opset < 13) {  // before version 13 the axis parted the shape in two, and the softmax ran over the second
    const int axis = resolved_axis(onnx.integer("axis", 1), x.rank());
    std::int64_t columns = 1;
    for (int behind = axis; behind < x.rank(); ++behind) columns *= x.size(behind);
    Floats rows(reshaped(x, {columns == 0 ? 0 : x.count() / columns, columns}));
    trial.expect(0, run(rows).values());
    return;
  }
  const int axis = resolved_axis(onnx.integer("axis", -1), x.rank());
  const HostTensor moved = axis_to_end(x, axis);
  Floats rows(reshaped(moved, {moved.count() / moved.shape.back(), moved.shape.back()}));
  trial.expect(0, axis_from_end(reshaped(run(rows).host(), moved.shape), axis).values);
}

void softmax(const OnnxCase& onnx, Trial& trial) {
  over_axis(onnx, trial, [&](Floats& x) {
    Floats y(x.host().shape);
    Softmax::Arguments arguments;
    arguments.x = x.view();
    arguments.y = y.view();
    trial.run<Softmax>(arguments);
    return y;
  });
}

void log_softmax(const OnnxCase& onnx, Trial& trial) {
  over_axis(onnx, trial, [&](Floats& x) {
    Floats y(x.host().shape);
    trial.run<LogSoftmax>({.x = x.view(), .y = y.view()});
    return y;
  });
}

}  // namespace

std::span<const Adapter> softmax_adapters() {
  static constexpr Adapter adapters[] = {
      {"LogSoftmax", log_softmax},
      {"Softmax", softmax},
  };
  return adapters;
}

}  // namespace ingot::outside
