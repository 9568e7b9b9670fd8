#include "train/record/chart.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "train/record/number_text.h"

namespace ingot {

namespace {

struct Frame {
  double left = 50, right = 14, top = 12, bottom = 28;
};

constexpr Frame frame;

// A tenth of a pixel is finer than any screen shows.
std::string pixels(double value) {
  char digits[400];
  const auto written = std::to_chars(digits, digits + sizeof(digits), value, std::chars_format::fixed, 1);
  std::string text(digits, written.ptr);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

class Scale {
 public:
  explicit Scale(const Chart& chart) : chart_(chart) {}
  double x(double value) const {
    return frame.left +
           (value - chart_.first) / (chart_.last - chart_.first) * (chart_.width - frame.left - frame.right);
  }
  // Points far outside stay a screen away, so that a coordinate has few digits; the clip hides them.
  double y(double value) const {
    const double part = std::clamp((value - chart_.low) / (chart_.high - chart_.low), -2.0, 3.0);
    return chart_.height - frame.bottom - part * (chart_.height - frame.top - frame.bottom);
  }

 private:
  const Chart& chart_;
};

std::string label(std::string_view anchor, double x, double y, const std::string& text) {
  return "<text class=\"soft\" text-anchor=\"" + std::string(anchor) + "\" x=\"" + pixels(x) + "\" y=\"" + pixels(y) +
         "\">" + text + "</text>";
}

std::string line(std::string_view style, double x1, double y1, double x2, double y2) {
  return "<line class=\"" + std::string(style) + "\" x1=\"" + pixels(x1) + "\" y1=\"" + pixels(y1) + "\" x2=\"" +
         pixels(x2) + "\" y2=\"" + pixels(y2) + "\"/>";
}

// For the page's script: the bounds of x and y, and where they lie in the drawing.
std::string bounds_text(const Chart& chart) {
  std::string text;
  for (double number : {chart.first, chart.last, chart.low, chart.high, frame.left, chart.width - frame.right,
                        chart.height - frame.bottom, frame.top}) {
    text += (text.empty() ? "" : " ") + exact_text(number);
  }
  return text;
}

std::string grid_svg(const Chart& chart, const Scale& scale) {
  const double right = chart.width - frame.right, bottom = chart.height - frame.bottom;
  std::string svg;
  for (double tick : round_ticks(chart.low, chart.high, chart.height / 60)) {
    const double y = scale.y(tick);
    svg += line("grid", frame.left, y, right, y) + label("end", frame.left - 8, y + 4, short_number(tick));
  }
  for (double tick : round_ticks(chart.first, chart.last, chart.width / 110)) {
    if (tick != std::floor(tick)) continue;  // a step is whole
    const double x = scale.x(tick);
    svg += line("grid", x, bottom, x, bottom + 4) + label("middle", x, bottom + 18, short_number(tick));
  }
  return svg + line("axis", frame.left, bottom, right, bottom);
}

std::string curve_svg(const ChartCurve& curve, const Scale& scale) {
  if (curve.points.empty()) return {};
  std::string places, dots;
  for (const CurvePoint& point : curve.points) {
    const std::string x = pixels(scale.x(point.x)), y = pixels(scale.y(point.y));
    places += (places.empty() ? "" : " ") + x + "," + y;
    if (curve.has_dots) dots += "<circle cx=\"" + x + "\" cy=\"" + y + "\" r=\"3\"/>";
  }
  std::string svg = "<g class=\"" + std::string(curve.style) + "\"><polyline";
  if (!curve.label.empty()) svg += " data-label=\"" + std::string(curve.label) + "\"";
  return svg + " points=\"" + places + "\"/>" + dots + "</g>";
}

}  // namespace

void set_bounds(Chart& chart, double low, double high) {
  const double air = high > low ? 0.05 * (high - low) : std::max(0.1 * std::fabs(low), 1e-12);
  chart.low = low >= 0 ? std::max(0.0, low - air) : low - air;
  chart.high = high + air;
}

std::vector<double> round_ticks(double low, double high, int count) {
  const double rough = (high - low) / std::max(count, 1);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  if (!std::isfinite(rough) || !std::isfinite(power) || power <= 0) return {};
  const double digit = rough / power;
  const double step = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
  std::vector<double> ticks;
  const double first = std::ceil(low / step), last = std::floor(high / step);
  for (double index = first; index <= last && index - first < 50; ++index) ticks.push_back(index * step);
  return ticks;
}

std::string short_number(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "infinite" : "-infinite";
  char digits[64];
  const double magnitude = std::fabs(value);
  if (magnitude >= 1e15 || (magnitude < 1e-3 && magnitude > 0)) {
    const auto written = std::to_chars(digits, digits + sizeof(digits), value, std::chars_format::general, 3);
    return {digits, written.ptr};
  }
  const int decimals = magnitude >= 1000 ? 0 : magnitude >= 100 ? 1 : magnitude >= 10 ? 2 : magnitude >= 0.1 ? 3 : 5;
  const auto written = std::to_chars(digits, digits + sizeof(digits), value, std::chars_format::fixed, decimals);
  std::string text(digits, written.ptr);
  std::size_t whole = text.find('.');
  if (whole == std::string::npos) {
    whole = text.size();
  } else {
    text.resize(std::max(text.find_last_not_of('0') + 1, whole));
    if (text.size() == whole + 1) text.resize(whole);
  }
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  for (std::size_t at = whole; at > sign + 3;) text.insert(at -= 3, ",");
  return text;
}

std::string chart_svg(const Chart& chart) {
  const Scale scale(chart);
  const std::string width = std::to_string(chart.width), height = std::to_string(chart.height);
  const double inner_width = chart.width - frame.left - frame.right;
  const double inner_height = chart.height - frame.top - frame.bottom;
  const std::string inside = "x=\"" + pixels(frame.left) + "\" y=\"" + pixels(frame.top) + "\" width=\"" +
                             pixels(inner_width) + "\" height=\"" + pixels(inner_height) + "\"";
  // A nested svg element cuts off what leaves it, and needs no name of its own on the page.
  std::string svg =
      "<svg class=\"chart\" viewBox=\"0 0 " + width + " " + height + "\" data-bounds=\"" + bounds_text(chart) + "\">";
  svg += grid_svg(chart, scale);
  svg += "<svg " + inside + " viewBox=\"" + pixels(frame.left) + " " + pixels(frame.top) + " " + pixels(inner_width) +
         " " + pixels(inner_height) + "\">";
  for (const ChartCurve& curve : chart.curves) svg += curve_svg(curve, scale);
  return svg + "</svg></svg>\n";
}

}  // namespace ingot
