// ONNX RotaryEmbedding: heads before time, or heads inside the last axis; Ingot's is [tokens, heads, dimensions].
#include "kernels/position/rope_apply.h"
#include "tests/outside/buffer.h"
#include "tests/outside/trial.h"

namespace ingot::outside {
namespace {

void rotary_embedding(const OnnxCase& onnx, Trial& trial) {
  const HostTensor& input = onnx.required(0);
  const HostTensor* positions = onnx.input(3);
  const bool has_head_axis = input.rank() == 4;
  const std::int64_t batch = input.size(0);
  const std::int64_t time = input.size(has_head_axis ? 2 : 1);
  const std::int64_t heads = has_head_axis ? input.size(1) : onnx.integer("num_heads", 1);
  if (heads < 1 || batch * time == 0) return trial.fail("expected heads and tokens, found none");
  const std::int64_t dimensions = input.count() / (batch * time * heads);

  Floats x(reshaped(has_head_axis ? permuted(input, {0, 2, 1, 3}) : input, {batch * time, heads, dimensions}));
  auto table = [&](std::size_t index) {  // [positions, R/2], or a row a token where there are no positions
    const HostTensor& cache = onnx.required(index);
    return Floats(reshaped(cache, {cache.count() / cache.shape.back(), cache.shape.back()}));
  };
  Floats cosine = table(1);
  Floats sine = table(2);
  Buffer<std::int32_t> rows;
  if (positions != nullptr) rows = Buffer<std::int32_t>(reshaped(*positions, {positions->count()}));
  Floats y(Sizes{batch * time, heads, dimensions});

  RopeApply::Arguments arguments;
  arguments.x = x.view();
  arguments.cosine = cosine.view();
  arguments.sine = sine.view();
  arguments.positions = rows.view();
  arguments.style = onnx.integer("interleaved", 0) != 0 ? PairStyle::interleaved : PairStyle::half_split;
  arguments.y = y.view();
  trial.run<RopeApply>(arguments);
  const HostTensor turned = reshaped(y.host(), {batch, time, heads, dimensions});
  trial.expect(0, has_head_axis ? permuted(turned, {0, 2, 1, 3}).values : turned.values);
}

}  // namespace

std::span<const Adapter> position_adapters() {
  static constexpr Adapter adapters[] = {{"RotaryEmbedding", rotary_embedding}};
  return adapters;
}

}  // namespace ingot::outside
