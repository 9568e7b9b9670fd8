#include "server/metrics/metrics_text.h"

#include <array>
#include <charconv>

namespace ingot {
namespace {

void append_number(std::string& text, double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text.append(digits.data(), end);
}

// What a model is called comes from a file's name or a user.
void append_value(std::string& text, std::string_view value) {
  for (const char letter : value) {
    if (letter == '\\' || letter == '"') text += '\\';
    if (letter == '\n') {
      text += "\\n";
    } else {
      text += letter;
    }
  }
}

}  // namespace

void MetricsText::begin(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_.append("# HELP ").append(name).append(" ").append(help);
  text_.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

void MetricsText::line(std::string_view suffix, MetricLabels labels, std::string_view bound, double value) {
  text_.append(name_).append(suffix);
  char separator = '{';
  const auto add = [&](std::string_view name, std::string_view label) {
    text_ += separator;
    text_.append(name).append("=\"");
    append_value(text_, label);
    text_ += '"';
    separator = ',';
  };
  for (const MetricLabel& label : labels) add(label.name, label.value);
  if (!bound.empty()) add("le", bound);
  if (separator == ',') text_ += '}';
  text_ += ' ';
  append_number(text_, value);
  text_ += '\n';
}

void MetricsText::sample(MetricLabels labels, double value) { line("", labels, "", value); }

void MetricsText::sample(MetricLabels labels, const Histogram& histogram) {
  std::int64_t below = 0;
  std::string bound;
  for (std::size_t bucket = 0; bucket < histogram.bounds().size(); ++bucket) {
    below += histogram.count(bucket);
    bound.clear();
    append_number(bound, histogram.bounds()[bucket]);
    line("_bucket", labels, bound, static_cast<double>(below));
  }
  below += histogram.count(histogram.bounds().size());
  line("_bucket", labels, "+Inf", static_cast<double>(below));
  line("_sum", labels, "", histogram.sum());
  line("_count", labels, "", static_cast<double>(below));
}

}  // namespace ingot
