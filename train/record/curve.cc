#include "train/record/curve.h"

#include <algorithm>

namespace ingot {

std::vector<CurvePoint> thinned(std::span<const CurvePoint> points, std::size_t most) {
  if (points.size() <= most) return {points.begin(), points.end()};
  const std::size_t parts = most / 2;
  const double first = points.front().x, extent = points.back().x - first;
  std::vector<CurvePoint> kept;
  kept.reserve(2 * parts);
  for (std::size_t begin = 0, part = 0; begin < points.size() && part < parts; ++part) {
    const double bound = first + extent * static_cast<double>(part + 1) / static_cast<double>(parts);
    std::size_t lowest = begin, highest = begin, end = begin;
    for (; end < points.size() && (points[end].x < bound || part + 1 == parts); ++end) {
      if (points[end].y < points[lowest].y) lowest = end;
      if (points[end].y > points[highest].y) highest = end;
    }
    if (end == begin) continue;
    kept.push_back(points[std::min(lowest, highest)]);
    if (lowest != highest) kept.push_back(points[std::max(lowest, highest)]);
    begin = end;
  }
  return kept;
}

std::vector<CurvePoint> smoothed(std::span<const CurvePoint> points, double reach) {
  const double keep = 1 - 1 / reach;
  std::vector<CurvePoint> means(points.begin(), points.end());
  std::vector<double> weights(points.size(), 1);
  double sum = 0, weight = 0;
  for (std::size_t index = 0; index < points.size(); ++index) {
    means[index].y += keep * sum;
    weights[index] += keep * weight;
    sum = keep * sum + points[index].y;
    weight = keep * weight + 1;
  }
  sum = weight = 0;
  for (std::size_t index = points.size(); index-- > 0;) {
    means[index].y = (means[index].y + keep * sum) / (weights[index] + keep * weight);
    sum = keep * sum + points[index].y;
    weight = keep * weight + 1;
  }
  return means;
}

double quantile(std::span<const CurvePoint> points, double part) {
  std::vector<double> values;
  values.reserve(points.size());
  for (const CurvePoint& point : points) values.push_back(point.y);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace ingot
