#include "tests/outside/trial.h"

#include <cmath>

namespace ingot::outside {
namespace {

struct Closeness {
  double relative;
  double absolute;
};

// What ONNX's own test runner allows, and more for the type with fewer bits.
Closeness closeness_of(const std::string& dtype) {
  if (dtype == "f16" || dtype == "bf16") return {1e-2, 1e-7};
  if (dtype == "f32" || dtype == "f64") return {1e-3, 1e-7};
  return {0, 0};  // integers, flags, and types compared by their bits
}

bool is_close(double expected, double found, Closeness closeness) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
  if (std::isinf(expected) || std::isinf(found)) return expected == found;
  return std::fabs(expected - found) <= closeness.absolute + closeness.relative * std::fabs(expected);
}

}  // namespace

void Trial::expect(std::size_t output, const std::vector<double>& found) { compare(output, found, false); }
void Trial::expect_exactly(std::size_t output, const std::vector<double>& found) { compare(output, found, true); }

void Trial::compare(std::size_t output, const std::vector<double>& found, bool is_exact) {
  const HostTensor* expected = case_.output(output);
  if (expected == nullptr || verdict_ != Verdict::passed) return;
  const std::string where = "output " + std::to_string(output) + " (" + last_variant_ + ")";
  if (expected->values.size() != found.size()) {
    return fail(where + ": expected " + std::to_string(expected->values.size()) + " elements, found " +
                std::to_string(found.size()));
  }
  const Closeness closeness = is_exact ? Closeness{0, 0} : closeness_of(expected->dtype);
  for (std::size_t index = 0; index < found.size(); ++index) {
    if (is_close(expected->values[index], found[index], closeness)) continue;
    return fail(where + " element " + std::to_string(index) + ": expected " + std::to_string(expected->values[index]) +
                ", found " + std::to_string(found[index]));
  }
}

void Trial::fail(std::string text) {
  if (verdict_ != Verdict::passed) return;
  verdict_ = Verdict::failed;
  text_ = std::move(text);
}

void Trial::not_applicable(std::string reason) {
  if (verdict_ == Verdict::not_applicable) return;
  verdict_ = Verdict::not_applicable;
  text_ = std::move(reason);
}

}  // namespace ingot::outside
