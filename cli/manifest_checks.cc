#include "cli/manifest_checks.h"

#include <charconv>

#include "base/image/image_manifest.h"
#include "base/image/network_settings.h"

namespace ingot {

Result<void> check_right(const std::string& name) {
  if (is_right(name)) return {};
  return Error::of(ErrorCode::invalid_argument, "expected a right's name of a-z, 0-9 and '-', found '",
                   std::string_view(name), "'");
}

Result<void> check_address(const std::string& text) {
  NetworkSettings settings;
  return settings.add(text);
}

Result<void> check_environment(const std::string& option) {
  if (option.find('=') != std::string::npos && !option.starts_with('=')) return {};
  return Error::of(ErrorCode::invalid_argument, "expected NAME=VALUE, found '", std::string_view(option), "'");
}

Result<void> check_descriptors(const std::string& option) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(option.data(), option.data() + option.size(), number);
  const bool is_number = error == std::errc() && end == option.data() + option.size();
  if (is_number && number >= least_descriptors && number <= most_descriptors) return {};
  return Error::of(ErrorCode::invalid_argument, "expected a number from ", least_descriptors, " to ", most_descriptors,
                   ", found '", std::string_view(option), "'");
}

Result<void> check_kernel_word(const std::string& word) {
  if (!word.empty() && word != "--" && word.find_first_of(" \t\n") == std::string::npos) return {};
  return Error::of(ErrorCode::invalid_argument, "expected one word for the kernel, found '", std::string_view(word),
                   "'");
}

}  // namespace ingot
