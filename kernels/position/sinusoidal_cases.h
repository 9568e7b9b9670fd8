// Produced and added, both styles; in place; nothing at all.
#pragma once

#include "kernels/position/sinusoidal.h"

namespace ingot {

inline void Sinusoidal::cases(CaseList<Sinusoidal>& list) {
  enum class Form : std::uint8_t { produced, added, in_place };
  auto made = [](Shape shape, PairStyle style, Form form) {
    return [=](CaseBuilder& builder) {
      Arguments a;
      View<float> x;
      if (form != Form::produced) a.x = x = builder.filled(shape);
      a.positions = builder.filled<std::int32_t>({shape[0]}, Fill::integers(-3, 4000));
      a.style = style;
      a.y = form == Form::in_place ? x : builder.blank(shape);
      return a;
    };
  };
  list.parity("added, interleaved", made({5, 34}, PairStyle::interleaved, Form::added));
  list.parity("produced, half split", made({3, 16}, PairStyle::half_split, Form::produced));
  list.parity("in place", made({4, 6}, PairStyle::half_split, Form::in_place));
  list.parity("one pair", made({1, 2}, PairStyle::interleaved, Form::produced));
  list.parity("no tokens", made({0, 8}, PairStyle::interleaved, Form::added));
  list.parity("no columns", made({3, 0}, PairStyle::interleaved, Form::added));
  list.benchmark("1500 x 512", made({1500, 512}, PairStyle::half_split, Form::added));
}

}  // namespace ingot
