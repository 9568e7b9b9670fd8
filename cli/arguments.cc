#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

namespace ingot {

namespace {

template <class Number>
Check number_between(Number least, Number most) {
  return checked_by(CLI::Range(least, most).get_description(), [least, most](std::string& text) -> std::string {
    Number number{};
    if (CLI::detail::lexical_cast(text, number) && number >= least && number <= most) return "";
    return (std::is_integral_v<Number> ? "expected a whole number from " : "expected a number from ") +
           CLI::detail::to_string(least) + " to " + CLI::detail::to_string(most) + ", found '" + text + "'";
  });
}

}  // namespace

Check between(std::int64_t least, std::int64_t most) { return number_between(least, most); }
Check between(double least, double most) { return number_between(least, most); }
Check one_of(std::vector<std::string> words) {
  const std::string name = "{" + CLI::detail::join(words) + "}";
  return checked_by(name, [words = std::move(words)](std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return "";
    return "expected one of " + CLI::detail::join(words, ", ") + ", found '" + text + "'";
  });
}
Check checked_by(std::string_view name, std::function<std::string(std::string&)> function) {
  return Check(std::make_shared<CLI::Validator>(std::move(function), std::string(name)));
}

Check accepted_by(std::string_view name, std::function<Result<void>(const std::string&)> function) {
  return checked_by(name, [function = std::move(function)](std::string& text) {
    const Result<void> accepted = function(text);
    return accepted.ok() ? std::string() : std::string(accepted.error().text());
  });
}

Check as_file() {
  return checked_by("", [](std::string& text) {
    return text.empty() ? std::string("expected the name of a file, found none") : std::string();
  });
}

Check as_bytes() {
  return checked_by("SIZE", [](std::string& text) -> std::string {
    const auto complaint = [&] { return "expected a size such as 512M, 2G or 65536, found '" + text + "'"; };
    const std::size_t digits = text.find_first_not_of("0123456789");
    if (digits == 0 || text.empty() || text.substr(0, digits).size() > 12) return complaint();
    std::uint64_t bytes = std::stoull(text.substr(0, digits));
    std::string unit = digits == std::string::npos ? "" : text.substr(digits);
    if (unit.ends_with("iB")) unit.resize(unit.size() - 2);
    if (unit == "K" || unit == "k") {
      bytes <<= 10;
    } else if (unit == "M") {
      bytes <<= 20;
    } else if (unit == "G" && bytes < 1 << 20) {
      bytes <<= 30;
    } else if (!unit.empty()) {
      return complaint();
    }
    text = std::to_string(bytes);
    return "";
  });
}

Option Option::required() const { return Option(option_->required()); }
Option Option::check(const Check& check) const { return Option(option_->check(check.validator())); }
Option Option::transform(const Check& rewriting) const { return Option(option_->transform(rewriting.validator())); }
Option Option::capture_default_str() const { return Option(option_->capture_default_str()); }
Option Option::one_word_each_time() const { return Option(option_->allow_extra_args(false)); }
Option Option::two_words() const { return Option(option_->expected(2)); }
Option Option::take_all() const { return Option(option_->take_all()); }
Option Option::excludes(Option other) const { return Option(option_->excludes(other.option_)); }
Option Option::needs(Option other) const { return Option(option_->needs(other.option_)); }
bool Option::is_given() const { return option_->count() > 0; }

Command Command::add_subcommand(std::string name, std::string description) const {
  return Command(*application_->add_subcommand(std::move(name), std::move(description)));
}

template <class Variable>
Option Command::add_option(std::string name, Variable& variable, std::string description) const {
  return Option(application_->add_option(std::move(name), variable, std::move(description)));
}
template Option Command::add_option(std::string, int&, std::string) const;
template Option Command::add_option(std::string, std::int64_t&, std::string) const;
template Option Command::add_option(std::string, std::uint64_t&, std::string) const;
template Option Command::add_option(std::string, float&, std::string) const;
template Option Command::add_option(std::string, double&, std::string) const;
template Option Command::add_option(std::string, std::string&, std::string) const;
template Option Command::add_option(std::string, std::optional<std::uint32_t>&, std::string) const;
template Option Command::add_option(std::string, std::optional<std::uint64_t>&, std::string) const;
template Option Command::add_option(std::string, std::vector<std::string>&, std::string) const;

Option Command::add_flag(std::string name, bool& variable, std::string description) const {
  return Option(application_->add_flag(std::move(name), variable, std::move(description)));
}
Option Command::add_flag_callback(std::string name, std::function<void()> given, std::string description) const {
  return Option(application_->add_flag_callback(std::move(name), std::move(given), std::move(description)));
}
void Command::footer(std::string text) const { application_->footer(std::move(text)); }
void Command::require_subcommand() const { application_->require_subcommand(1); }
void Command::callback(std::function<void()> parsed) const { application_->callback(std::move(parsed)); }
bool Command::has_parsed_subcommand() const { return !application_->get_subcommands().empty(); }
Result<void> Command::require_no_options() const {
  for (const CLI::Option* const option : application_->get_options()) {
    if (option->count() == 0) continue;
    return Error::of(ErrorCode::invalid_argument, "expected options behind '",
                     application_->get_subcommands().front()->get_name(), "', found ", option->get_name(),
                     " before it");
  }
  return {};
}

}  // namespace ingot
