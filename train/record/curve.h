// Curves of a run, made fit for a drawing: any number of steps becomes about a thousand points.
#pragma once

#include <span>
#include <vector>

namespace ingot {

struct CurvePoint {
  double x = 0;
  double y = 0;

  bool operator==(const CurvePoint&) const = default;
};

// At most `most` points. Where there are more, x is cut into equal parts, and of each part the lowest and the highest
// point stay, so that a spike of one step is still seen. Precondition: x ascends, all numbers are finite, most >= 2.
std::vector<CurvePoint> thinned(std::span<const CurvePoint> points, std::size_t most);

// Each y as a mean of all, its neighbours' weights falling by the factor 1 - 1 / reach a point on either side: the
// curve lags neither behind nor ahead. Precondition: reach >= 1.
std::vector<CurvePoint> smoothed(std::span<const CurvePoint> points, double reach);

// The y below which the given part of all lies. Precondition: points, and 0 <= part <= 1.
double quantile(std::span<const CurvePoint> points, double part);

}  // namespace ingot
