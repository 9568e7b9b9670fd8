// MetricsText: figures in Prometheus' text form (version 0.0.4). All samples of one name stand together, under one help
// line and one type, as the form demands.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/metrics/histogram.h"

namespace ingot {

struct MetricLabel {
  std::string_view name;
  std::string_view value;
};
using MetricLabels = std::span<const MetricLabel>;

class MetricsText {
 public:
  // What follows, up to the next of these, are samples of it. Counters' names end in _total.
  void begin_gauge(std::string_view name, std::string_view help) { begin(name, "gauge", help); }
  void begin_counter(std::string_view name, std::string_view help) { begin(name, "counter", help); }
  void begin_histogram(std::string_view name, std::string_view help) { begin(name, "histogram", help); }

  void sample(MetricLabels labels, double value);
  void sample(MetricLabels labels, const Histogram& histogram);

  const std::string& text() const { return text_; }

 private:
  void begin(std::string_view name, std::string_view type, std::string_view help);
  void line(std::string_view suffix, MetricLabels labels, std::string_view bound, double value);

  std::string text_;
  std::string name_;
};

}  // namespace ingot
