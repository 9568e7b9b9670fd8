// Shapes: one token (decoding), fewer tokens than taps, one tap (no state), odd lengths around vector widths,
// time-major and channel-major activations, no batch, no time; with and without bias and state; in place.
#pragma once

#include "kernels/state/causal_conv1d.h"

namespace ingot {

enum class ConvolutionOrder : std::uint8_t { time_last, channels_last };

struct ConvolutionCase {
  std::int64_t batch, channels, time, taps;
  bool with_bias = true;
  bool with_state = true;
  ConvolutionActivation activation = ConvolutionActivation::none;
  ConvolutionOrder order = ConvolutionOrder::time_last;

  // An activation tensor of logical shape [B, C, T] in the case's memory order.
  View<float> ordered(const View<float>& memory) const {
    if (order == ConvolutionOrder::time_last) return memory;
    return View<float>(memory.data(), {batch, channels, time}, {memory.stride(0), memory.stride(2), memory.stride(1)});
  }
  Shape memory_shape() const {
    return order == ConvolutionOrder::time_last ? Shape{batch, channels, time} : Shape{batch, time, channels};
  }
  Shape state_shape() const { return {batch, channels, taps - 1}; }
};

inline CausalConv1d::Arguments build_convolution(const ConvolutionCase& one, CaseBuilder& builder) {
  CausalConv1d::Arguments a;
  a.x = one.ordered(builder.filled(one.memory_shape()));
  a.weights = builder.filled({one.channels, one.taps}, Fill::uniform(-1, 1));
  if (one.with_bias) a.bias = builder.filled({one.channels}, Fill::uniform(-1, 1));
  if (one.with_state) a.initial_state = builder.filled(one.state_shape());
  a.activation = one.activation;
  a.y = one.ordered(builder.blank(one.memory_shape()));
  a.final_state = builder.blank(one.state_shape());
  return a;
}

inline void CausalConv1d::cases(CaseList<CausalConv1d>& list) {
  auto of = [](ConvolutionCase one) { return [one](CaseBuilder& builder) { return build_convolution(one, builder); }; };
  constexpr auto none = ConvolutionActivation::none;
  constexpr auto silu = ConvolutionActivation::silu;
  constexpr auto last = ConvolutionOrder::channels_last;
  list.parity("2 x 4 x 8, 4 taps, bias and state", of({2, 4, 8, 4}));
  list.parity("bare", of({1, 1, 6, 4, false, false}));
  list.parity("one tap", of({2, 4, 8, 1, false, false}));
  for (std::int64_t time : {1, 2, 3, 5, 19, 67}) {
    const std::string text = std::to_string(time);
    list.parity("silu, time " + text, of({2, 5, time, 4, true, true, silu}));
    list.parity("channels last, time " + text, of({2, 37, time, 4, true, true, silu, last}));
  }
  list.parity("16 taps", of({1, 3, 40, 16, true, true, none}));
  list.parity("16 taps, channels last", of({1, 35, 9, 16, false, true, none, last}));
  list.parity("17 taps, more than the vector variants take", of({1, 3, 5, 17}));
  list.parity("many channels, no state", of({3, 130, 7, 3, true, false, silu, last}));
  list.parity("no batch", of({0, 4, 8, 4}));
  list.parity("no time", of({2, 4, 0, 4}));
  list.parity("in place, decoding", [](CaseBuilder& builder) {
    Arguments a = build_convolution({2, 21, 1, 4, true, false, ConvolutionActivation::silu}, builder);
    a.final_state = builder.filled({2, 21, 3});
    a.initial_state = a.final_state;
    return a;
  });
  list.gradient("silu, bias and state", of({2, 2, 4, 3, true, true, silu}));
  list.gradient("fewer tokens than taps", of({1, 2, 2, 4, true, true, none}));
  list.gradient("bare", of({1, 2, 4, 2, false, false, none}));
  list.benchmark("decode 1 x 8192 x 1", of({1, 8192, 1, 4, true, true, silu, last}));
  list.benchmark("prefill 1 x 8192 x 512, channels last", of({1, 8192, 512, 4, true, true, silu, last}));
  list.benchmark("prefill 1 x 8192 x 512, time last", of({1, 8192, 512, 4, true, true, silu}));
}

inline void CausalConv1dBackward::cases(CaseList<CausalConv1dBackward>& list) {
  auto of = [](ConvolutionCase one) {
    return [one](CaseBuilder& builder) {
      const CausalConv1d::Arguments forward = build_convolution(one, builder);
      Arguments a;
      a.x = forward.x;
      a.weights = forward.weights;
      a.bias = forward.bias;
      a.initial_state = forward.initial_state;
      a.activation = one.activation;
      a.dy = builder.filled(forward.x.shape());
      a.dx = builder.blank(forward.x.shape());
      a.dweights = builder.blank(forward.weights.shape());
      if (one.with_bias) a.dbias = builder.blank({one.channels});
      if (one.with_state) {
        a.dfinal_state = builder.filled(one.state_shape());
        a.dinitial_state = builder.blank(one.state_shape());
      }
      return a;
    };
  };
  constexpr auto silu = ConvolutionActivation::silu;
  list.parity("2 x 3 x 7, bias and state", of({2, 3, 7, 4, true, true, silu}));
  list.parity("bare", of({1, 2, 5, 3, false, false}));
  list.parity("one tap", of({1, 2, 3, 1}));
  list.parity("channels last", of({2, 5, 3, 4, true, true, silu, ConvolutionOrder::channels_last}));
  list.parity("no time", of({2, 3, 0, 4}));
  list.benchmark("1 x 2048 x 256", of({1, 2048, 256, 4, true, true, silu}));
}

}  // namespace ingot
