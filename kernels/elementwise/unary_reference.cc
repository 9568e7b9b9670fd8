// Scalar truth: the function in double, rounded once.
#include <cmath>

#include "kernels/elementwise/unary.h"
#include "tensor/rows.h"

namespace ingot {

double Exponential::apply(const Arguments&, double x) { return std::exp(x); }
double SquareRoot::apply(const Arguments&, double x) { return std::sqrt(x); }

template <class Op>
void unary_reference(const typename Op::Arguments& arguments, Context&) {
  const auto sources = arguments.sources();
  const Rows first(sources[0]);
  const Rows last(sources[sources.size() - 1]);
  const Rows target(arguments.target());
  for (std::int64_t row = 0; row < target.count(); ++row) {
    for (std::int64_t i = 0; i < target.length(); ++i) {
      if constexpr (sources.size() == 1) {
        target[row][i] = static_cast<float>(Op::apply(arguments, first[row][i]));
      } else {
        target[row][i] = static_cast<float>(Op::apply(arguments, first[row][i], last[row][i]));
      }
    }
  }
}

template void unary_reference<Scale>(const Scale::Arguments&, Context&);
template void unary_reference<ScaleBackward>(const ScaleBackward::Arguments&, Context&);
template void unary_reference<Clamp>(const Clamp::Arguments&, Context&);
template void unary_reference<ClampBackward>(const ClampBackward::Arguments&, Context&);
template void unary_reference<Exponential>(const Exponential::Arguments&, Context&);
template void unary_reference<ExponentialBackward>(const ExponentialBackward::Arguments&, Context&);
template void unary_reference<SquareRoot>(const SquareRoot::Arguments&, Context&);
template void unary_reference<SquareRootBackward>(const SquareRootBackward::Arguments&, Context&);

}  // namespace ingot
