#include "profile/report_html.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace ingot {
namespace {

constexpr double plot_width = 860;
constexpr double plot_height = 420;
constexpr double margin = 60;

std::string number(double value, const char* format = "%.1f") {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (char character : text) {
    switch (character) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += character;
    }
  }
  return safe;
}

// A logarithmic axis: maps [low, high] to pixels.
struct LogAxis {
  double low;
  double high;
  double from;
  double to;
  double operator()(double value) const {
    const double bounded = std::clamp(value, low, high);
    return from + (to - from) * (std::log10(bounded) - std::log10(low)) / (std::log10(high) - std::log10(low));
  }
};

std::string line(double x1, double y1, double x2, double y2, std::string_view style) {
  return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) +
         "\" class=\"" + std::string(style) + "\"/>\n";
}

std::string label(double x, double y, std::string_view text, std::string_view anchor = "middle") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + std::string(anchor) + "\">" +
         escaped(text) + "</text>\n";
}

double intensity(const BenchmarkRow& row) { return row.cost.bytes() > 0 ? row.cost.operations / row.cost.bytes() : 0; }

// GFLOP/s over FLOP per byte, both logarithmic, under the roofs the machine was measured to have.
std::string roofline_plot(const Peaks& peaks, std::span<const BenchmarkRow> rows) {
  const double bandwidth = std::max(peaks.copy_bytes_per_second, 1.0) / 1e9;
  const double highest = std::max(peak_operations(Arithmetic::int8, peaks), 1.0) / 1e9;
  const LogAxis x{0.01, 1000, margin, plot_width - 20};
  const LogAxis y{highest / 1e5, highest * 2, plot_height - margin, 20};
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(plot_width, "%.0f") + " " +
                    number(plot_height, "%.0f") + "\" role=\"img\" aria-label=\"roofline\">\n";
  for (double tick = 0.01; tick <= 1000.5; tick *= 10) {
    svg += line(x(tick), 20, x(tick), plot_height - margin, "grid") +
           label(x(tick), plot_height - margin + 18, number(tick, "%g"));
  }
  for (double tick = std::pow(10, std::ceil(std::log10(y.low))); tick <= y.high; tick *= 10) {
    svg += line(margin, y(tick), plot_width - 20, y(tick), "grid") +
           label(margin - 8, y(tick) + 4, number(tick, "%g"), "end");
  }
  svg += line(x(x.low), y(x.low * bandwidth), x(highest / bandwidth), y(highest), "roof");
  for (const auto& [arithmetic, name] :
       {std::pair(Arithmetic::f32, "f32"), std::pair(Arithmetic::bf16, "bf16"), std::pair(Arithmetic::int8, "8 bit")}) {
    const double peak = std::max(peak_operations(arithmetic, peaks), 1.0) / 1e9;
    svg += line(x(peak / bandwidth), y(peak), x(x.high), y(peak), "roof") + label(x(x.high), y(peak) - 4, name, "end");
  }
  svg += label(plot_width / 2, plot_height - 12, "operations per byte") + label(margin, 14, "GFLOP/s", "start");
  for (const BenchmarkRow& row : rows) {
    if (!row.failure.empty() || row.gflops <= 0 || intensity(row) <= 0) continue;
    svg += "<circle cx=\"" + number(x(intensity(row))) + "\" cy=\"" + number(y(row.gflops)) + "\" r=\"4\" class=\"" +
           (row.selected ? "selected" : "other") + "\"><title>" +
           escaped(row.operation + " " + row.variant + " (" + row.shape + "): " + number(row.gflops) + " GFLOP/s, " +
                   number(row.roofline_percent) + "% of the roof") +
           "</title></circle>\n";
  }
  return svg + "</svg>\n";
}

// One bar a selected variant: how much of its roof it reaches.
std::string bars(std::span<const BenchmarkRow> rows) {
  std::vector<const BenchmarkRow*> selected;
  for (const BenchmarkRow& row : rows) {
    if (row.selected && row.failure.empty() && !row.samples.empty()) selected.push_back(&row);
  }
  const double row_height = 16;
  const double height = row_height * static_cast<double>(selected.size()) + 30;
  const double left = 380;
  const double full = plot_width - left - 60;  // 100 percent
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + number(plot_width, "%.0f") + " " +
                    number(height, "%.0f") + "\" role=\"img\" aria-label=\"percent of roofline\">\n";
  svg += line(left + full, 0, left + full, height - 20, "roof") + label(left + full, height - 6, "100%");
  double y = 4;
  for (const BenchmarkRow* row : selected) {
    const double width = full * std::min(row->roofline_percent, 110.0) / 100;
    svg += label(left - 6, y + 10, row->operation + " (" + row->shape + ")", "end");
    svg += "<rect x=\"" + number(left) + "\" y=\"" + number(y) + "\" width=\"" + number(std::max(width, 0.5)) +
           "\" height=\"11\" class=\"selected\"/>\n";
    svg += label(left + width + 4, y + 10, number(row->roofline_percent, "%.0f") + "%", "start");
    y += row_height;
  }
  return svg + "</svg>\n";
}

std::string table(std::span<const BenchmarkRow> rows) {
  std::string html =
      "<table><tr><th>operation</th><th>variant</th><th>shape</th><th>threads</th><th>median ns</th>"
      "<th>95% interval</th><th>spread</th><th>GFLOP/s</th><th>GB/s</th><th>roofline</th><th>x reference</th></tr>\n";
  for (const BenchmarkRow& row : rows) {
    html += "<tr" + std::string(row.selected ? " class=\"chosen\"" : "") + "><td>" + escaped(row.operation) +
            "</td><td>" + escaped(row.variant) + "</td><td>" + escaped(row.shape) + "</td><td>" +
            std::to_string(row.threads) + "</td>";
    if (!row.failure.empty()) {
      html += "<td colspan=\"7\" class=\"failed\">failed " + escaped(row.failure) + "</td></tr>\n";
      continue;
    }
    html += "<td>" + number(row.summary.median, "%.0f") + "</td><td>" + number(row.median_interval.low, "%.0f") +
            " to " + number(row.median_interval.high, "%.0f") + "</td><td>" + number(100 * row.summary.spread) +
            "%</td><td>" + number(row.gflops, "%.2f") + "</td><td>" + number(row.gbytes_per_second, "%.2f") +
            "</td><td>" + number(row.roofline_percent) + "%</td><td>" +
            (row.over_reference.speedup > 0 ? number(row.over_reference.speedup) : "") + "</td></tr>\n";
  }
  return html + "</table>\n";
}

constexpr const char* style =
    "body{font:14px/1.5 system-ui,sans-serif;max-width:900px;margin:2em auto;padding:0 1em;color:#222;background:#fff}"
    "svg{width:100%;height:auto;font-size:11px}.grid{stroke:#ddd}.roof{stroke:#b33;stroke-width:2}"
    ".selected{fill:#2a6}.other{fill:#99a}table{border-collapse:collapse;width:100%;font-size:12px}"
    "td,th{padding:2px 6px;text-align:right;border-bottom:1px solid #eee}td:first-child,td:nth-child(2),td:nth-child(3)"
    "{text-align:left}.chosen{background:#efe}.failed{color:#b00;text-align:left}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}text{fill:#ccc}.grid{stroke:#333}"
    ".chosen{background:#132}td,th{border-color:#333}}";

}  // namespace

std::string html_report(std::string_view processor, const Peaks& peaks, std::span<const BenchmarkRow> rows) {
  std::string html =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Ingot kernels</title><style>";
  html += style;
  html += "</style></head><body>\n<h1>Ingot kernels on " + escaped(processor) + "</h1>\n<p>" +
          (peaks.threads > 0 ? std::to_string(peaks.threads) + " thread(s). " : "") + "Measured peaks: read " +
          number(peaks.read_bytes_per_second / 1e9) + " GB/s, write " + number(peaks.write_bytes_per_second / 1e9) +
          " GB/s, copy " + number(peaks.copy_bytes_per_second / 1e9) + " GB/s, " +
          number(peaks.fma_flops / 1e9, "%.0f") + " GFLOP/s, " +
          number(peak_operations(Arithmetic::int8, peaks) / 1e9, "%.0f") +
          " GOP/s of 8 bits. Green is what is selected here.</p>\n";
  html += "<h2>Roofline</h2>\n" + roofline_plot(peaks, rows);
  html += "<h2>Share of the roof, selected variants</h2>\n" + bars(rows);
  html += "<h2>Measurements</h2>\n" + table(rows);
  return html + "</body></html>\n";
}

Result<void> write_html_report(const std::string& path, std::string_view processor, const Peaks& peaks,
                               std::span<const BenchmarkRow> rows) {
  const std::string temporary = path + ".partial";
  std::FILE* file = std::fopen(temporary.c_str(), "w");
  if (file == nullptr) {
    return Error::of(ErrorCode::input_output, "expected to write ", temporary, ", found: ", std::strerror(errno));
  }
  const std::string page = html_report(processor, peaks, rows);
  const bool written = std::fwrite(page.data(), 1, page.size(), file) == page.size();
  const bool closed = std::fclose(file) == 0;  // a full disk may only show here
  if (!written || !closed || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    std::remove(temporary.c_str());
    return Error::of(ErrorCode::input_output, "expected to write ", path, ", found: ", std::strerror(reason));
  }
  return {};
}

}  // namespace ingot
