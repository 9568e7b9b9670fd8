// Values of configuration keys as text: one type for each kind of value, made for a member of TrainingConfiguration.
#pragma once

#include <algorithm>
#include <optional>

#include "train/record/configuration.h"
#include "train/record/number_text.h"

namespace ingot {

// Spaces and tabs (and the carriage return of other systems' lines) at both ends do not count.
std::string_view trimmed(std::string_view text);

// Texts, bare or in quotes, between commas. None where quotes do not match or stand inside of a bare text, where an
// element is missing, or for a control character. A value without anything is no element.
std::optional<std::vector<std::string>> texts_from(std::string_view value);
// The same for a single text, in which commas count as letters; a value without anything is the empty text.
std::optional<std::string> text_from(std::string_view value);

std::string written_text(std::string_view text);
std::string written_list(std::span<const std::string> texts);

template <auto member, std::int64_t least, std::int64_t most>
struct IntegerValue {
  static std::string expected() { return "an integer from " + std::to_string(least) + " to " + std::to_string(most); }
  static bool read(std::string_view value, TrainingConfiguration& configuration) {
    const std::optional<std::int64_t> number = integer_from<std::int64_t>(value);
    if (!number || *number < least || *number > most) return false;
    configuration.*member = *number;
    return true;
  }
  static std::string write(const TrainingConfiguration& configuration) { return std::to_string(configuration.*member); }
};

enum class NumberRange : std::uint8_t { positive, not_negative, below_one };

template <auto member, NumberRange range>
struct NumberValue {
  static std::string expected() {
    switch (range) {
      case NumberRange::positive: return "a number above 0";
      case NumberRange::not_negative: return "a number of at least 0";
      case NumberRange::below_one: return "a number from 0 to below 1";
    }
    return "a number";
  }
  static bool read(std::string_view value, TrainingConfiguration& configuration) {
    const std::optional<double> number = number_from(value);
    if (!number || *number < 0) return false;
    if (range == NumberRange::positive && *number == 0) return false;
    if (range == NumberRange::below_one && *number >= 1) return false;
    configuration.*member = *number;
    return true;
  }
  static std::string write(const TrainingConfiguration& configuration) { return exact_text(configuration.*member); }
};

template <auto member>
struct SwitchValue {
  static std::string expected() { return "true or false"; }
  static bool read(std::string_view value, TrainingConfiguration& configuration) {
    if (value != "true" && value != "false") return false;
    configuration.*member = value == "true";
    return true;
  }
  static std::string write(const TrainingConfiguration& configuration) {
    return configuration.*member ? "true" : "false";
  }
};

// One of an enumeration's names.
template <auto member, const auto& names>
struct ChoiceValue {
  static std::string expected() {
    std::string all = "one of ";
    for (std::string_view name : names) all += (name == names.front() ? "" : ", ") + std::string(name);
    return all;
  }
  static bool read(std::string_view value, TrainingConfiguration& configuration) {
    const auto name = std::ranges::find(names, value);
    if (name == names.end()) return false;
    using Enumeration = std::remove_reference_t<decltype(configuration.*member)>;
    configuration.*member = static_cast<Enumeration>(name - names.begin());
    return true;
  }
  static std::string write(const TrainingConfiguration& configuration) {
    return std::string(names[static_cast<std::size_t>(configuration.*member)]);
  }
};

template <auto member>
struct TextValue {
  static std::string expected() { return "a text, without or in quotes"; }
  static bool read(std::string_view value, TrainingConfiguration& configuration) {
    std::optional<std::string> text = text_from(value);
    if (text) configuration.*member = std::move(*text);
    return text.has_value();
  }
  static std::string write(const TrainingConfiguration& configuration) { return written_text(configuration.*member); }
};

template <auto member>
struct ListValue {
  static std::string expected() { return "texts between commas, each without or in quotes"; }
  static bool read(std::string_view value, TrainingConfiguration& configuration) {
    std::optional<std::vector<std::string>> texts = texts_from(value);
    if (texts) configuration.*member = std::move(*texts);
    return texts.has_value();
  }
  static std::string write(const TrainingConfiguration& configuration) { return written_list(configuration.*member); }
};

}  // namespace ingot
