// One chart as inline SVG: axes with round numbers, curves, and dots. Colours come from the page's style by class name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "train/record/curve.h"

namespace ingot {

struct ChartCurve {
  std::string_view style;  // a class: "raw", "mean", "dots", ...
  std::string_view label;  // what the pointer's reading calls it; empty: not read
  std::vector<CurvePoint> points;
  bool has_dots = false;
};

struct Chart {
  int width = 960;
  int height = 360;
  double first = 0;  // of x
  double last = 1;
  double low = 0;  // of y; curves beyond are cut off
  double high = 1;
  std::vector<ChartCurve> curves;  // later ones lie above
};

// Bounds around [low, high] with some air, never of no extent.
void set_bounds(Chart& chart, double low, double high);

std::string chart_svg(const Chart& chart);

// Round numbers from low to high, about `count` of them. Precondition: finite, low < high, count >= 1.
std::vector<double> round_ticks(double low, double high, int count);

// A number in about four digits, with commas between thousands: 12,000, 2.375, 1.5e-05.
std::string short_number(double value);

}  // namespace ingot
