#include "train/record/run_line.h"

#include <cmath>
#include <limits>

#include "model/files/json_events.h"
#include "model/files/quoted.h"
#include "train/record/number_text.h"

namespace ingot {

namespace {

constexpr int deepest_line = 16;  // of fields that are not known

struct LineNumber {
  std::string_view key;
  double RunStep::* member;
};

struct LineInteger {
  std::string_view key;
  std::int64_t RunStep::* member;
};

constexpr std::string_view step_key = "step", loss_key = "loss", validation_key = "validation_loss";
constexpr LineInteger line_integers[] = {{step_key, &RunStep::step}, {"tokens", &RunStep::tokens}};
constexpr LineNumber line_numbers[] = {{loss_key, &RunStep::loss},
                                       {"gradient_norm", &RunStep::gradient_norm},
                                       {"learning_rate", &RunStep::learning_rate},
                                       {"tokens_per_second", &RunStep::tokens_per_second}};

// Only the fields of the outermost object count.
class LineVisitor : public JsonVisitor {
 public:
  Result<RunStep> finished() const {
    if (!has_step_ || !has_loss_) {
      return Error::of(ErrorCode::corrupt, "expected ", has_step_ ? loss_key : step_key, ", found no such field");
    }
    return step_;
  }

  Result<void> begin_object() override { return begin("an object"); }
  Result<void> end_object() override { return end(); }
  Result<void> begin_array() override { return begin("a list"); }
  Result<void> end_array() override { return end(); }
  Result<void> key(std::string_view name) override {
    if (depth_ == 1) field_ = name;
    return {};
  }
  Result<void> text(std::string_view value) override { return is_known() ? wrong(Quoted{value}) : outside("text"); }
  Result<void> boolean(bool value) override { return is_known() ? wrong(value) : outside("a boolean"); }
  Result<void> integer(std::int64_t value) override { return is_known() ? wrong(value) : outside("a number"); }
  Result<void> unsigned_integer(std::uint64_t value) override {
    for (const LineInteger& field : line_integers) {
      if (!is_field(field.key)) continue;
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return wrong(value);
      step_.*field.member = static_cast<std::int64_t>(value);
      has_step_ |= field.key == step_key;
      return {};
    }
    return number(static_cast<double>(value));
  }
  Result<void> number(double value) override {
    if (!is_known()) return outside("a number");
    if (is_field(validation_key)) {
      step_.validation_loss = value;
      return {};
    }
    for (const LineNumber& field : line_numbers) {
      if (!is_field(field.key)) continue;
      step_.*field.member = value;
      has_loss_ |= field.key == loss_key;
      return {};
    }
    return wrong(exact_text(value));
  }
  Result<void> null() override { return number(std::numeric_limits<double>::quiet_NaN()); }

 private:
  bool is_field(std::string_view key) const { return depth_ == 1 && field_ == key; }
  bool is_known() const {
    for (const LineInteger& field : line_integers) {
      if (is_field(field.key)) return true;
    }
    for (const LineNumber& field : line_numbers) {
      if (is_field(field.key)) return true;
    }
    return is_field(validation_key);
  }
  template <class Found>
  Error wrong(const Found& found) const {
    const bool is_integer = field_ == line_integers[0].key || field_ == line_integers[1].key;
    return Error::of(ErrorCode::corrupt, field_, ": expected ", is_integer ? "an integer of at least 0" : "a number",
                     ", found ", found);
  }
  Result<void> outside(std::string_view found) const {
    if (depth_ == 0) return Error::of(ErrorCode::corrupt, "expected an object, found ", found);
    return {};
  }
  Result<void> begin(std::string_view found) {
    if (is_known()) return wrong(found);
    if (depth_ == 0 && found != "an object") return outside(found);
    ++depth_;
    return {};
  }
  Result<void> end() {
    --depth_;
    return {};
  }

  RunStep step_;
  std::string field_;
  int depth_ = 0;
  bool has_step_ = false;
  bool has_loss_ = false;
};

}  // namespace

std::string run_line(const RunStep& step) {
  std::string line;
  const auto add = [&line](std::string_view key, const std::string& value) {
    line += (line.empty() ? "{\"" : ",\"") + std::string(key) + "\":" + value;
  };
  const auto number = [](double value) { return std::isfinite(value) ? exact_text(value) : std::string("null"); };
  add(step_key, std::to_string(step.step));
  for (const LineNumber& field : line_numbers) add(field.key, number(step.*field.member));
  add(line_integers[1].key, std::to_string(step.tokens));
  if (step.validation_loss) add(validation_key, number(*step.validation_loss));
  return line + "}";
}

Result<RunStep> read_run_line(std::string_view line) {
  LineVisitor visitor;
  TRY(read_json(line, visitor, deepest_line));
  return visitor.finished();
}

}  // namespace ingot
