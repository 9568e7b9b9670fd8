#include "machine/parse.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace ingot {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<int> whole_cpus(std::int64_t quota, std::int64_t period) {
  if (quota <= 0 || period <= 0) return std::nullopt;
  std::int64_t cpus = quota / period + (quota % period != 0 ? 1 : 0);
  return static_cast<int>(std::min<std::int64_t>(cpus, std::numeric_limits<int>::max()));
}

std::optional<std::uint32_t> parse_hexadecimal(std::string_view text) {
  text = trim(text);
  if (!text.starts_with("0x")) return std::nullopt;
  text.remove_prefix(2);
  std::uint32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string_view take_until(std::string_view& rest, char separator) {
  std::size_t end = rest.find(separator);
  std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return part;
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  text = trim(text);
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Bytes> parse_size(std::string_view text) {
  text = trim(text);
  int shift = 0;
  if (text.ends_with('K')) shift = 10;
  if (text.ends_with('M')) shift = 20;
  if (text.ends_with('G')) shift = 30;
  if (shift != 0) text.remove_suffix(1);
  std::optional<std::int64_t> count = parse_number(text);
  if (!count || *count < 0 || *count > (std::numeric_limits<std::int64_t>::max() >> shift)) return std::nullopt;
  return Bytes(static_cast<std::uint64_t>(*count) << shift);
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  constexpr std::int64_t most_cpus = 1 << 16;  // a bound, so that a corrupt list cannot ask for gigabytes
  std::vector<int> cpus;
  std::string_view rest = trim(text);
  if (rest.empty() || rest.ends_with(',')) return std::nullopt;
  while (!rest.empty()) {
    std::string_view range = take_until(rest, ',');
    bool single = range.find('-') == std::string_view::npos;
    std::optional<std::int64_t> first = parse_number(take_until(range, '-'));
    std::optional<std::int64_t> last = single ? first : parse_number(range);
    if (!first || !last || *first < 0 || *last < *first || *last >= most_cpus) return std::nullopt;
    for (std::int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

std::optional<std::string> find_field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (line.find(':') == std::string_view::npos) continue;
    if (trim(take_until(line, ':')) == key) return std::string(trim(line));
  }
  return std::nullopt;
}

std::optional<Bytes> find_kibibytes(std::string_view text, std::string_view key) {
  constexpr std::string_view unit = " kB";
  const std::string field = find_field(text, key).value_or("");
  if (!field.ends_with(unit)) return std::nullopt;
  const auto count = parse_number(std::string_view(field).substr(0, field.size() - unit.size()));
  if (!count || *count < 0) return std::nullopt;
  return Bytes(static_cast<std::uint64_t>(*count) << 10);
}

std::optional<double> parse_load(std::string_view text) {
  const std::string_view first = take_until(text, ' ');
  double load = 0;
  auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), load);
  if (error != std::errc() || end != first.data() + first.size() || !(load >= 0)) return std::nullopt;
  return load;
}

std::optional<int> parse_cpu_max(std::string_view text) {
  std::string_view rest = trim(text);
  std::optional<std::int64_t> quota = parse_number(take_until(rest, ' '));
  std::optional<std::int64_t> period = parse_number(rest);
  return quota && period ? whole_cpus(*quota, *period) : std::nullopt;
}

std::optional<int> parse_cpu_quota(std::string_view quota_text, std::string_view period_text) {
  std::optional<std::int64_t> quota = parse_number(quota_text);
  std::optional<std::int64_t> period = parse_number(period_text);
  return quota && period ? whole_cpus(*quota, *period) : std::nullopt;
}

std::string aarch64_cpu_name(std::uint32_t implementer, std::uint32_t part) {
  struct Core {
    std::uint32_t implementer, part;
    std::string_view name;
  };
  constexpr Core cores[] = {
      {0x41, 0xd03, "Arm Cortex-A53"},
      {0x41, 0xd05, "Arm Cortex-A55"},
      {0x41, 0xd07, "Arm Cortex-A57"},
      {0x41, 0xd08, "Arm Cortex-A72"},
      {0x41, 0xd0b, "Arm Cortex-A76"},
      {0x41, 0xd0c, "Arm Neoverse N1"},
      {0x41, 0xd40, "Arm Neoverse V1"},
      {0x41, 0xd41, "Arm Cortex-A78"},
      {0x41, 0xd44, "Arm Cortex-X1"},
      {0x41, 0xd49, "Arm Neoverse N2"},
      {0x41, 0xd4f, "Arm Neoverse V2"},
      {0x41, 0xd84, "Arm Neoverse V3"},
      {0x41, 0xd8e, "Arm Neoverse N3"},
      {0x46, 0x001, "Fujitsu A64FX"},
      {0x48, 0xd01, "HiSilicon Kunpeng 920"},
      {0xc0, 0xac3, "Ampere-1"},
      {0xc0, 0xac4, "Ampere-1a"},
      {0x61, 0x022, "Apple M1 (Icestorm)"},
      {0x61, 0x023, "Apple M1 (Firestorm)"},
  };
  for (const Core& core : cores) {
    if (core.implementer == implementer && core.part == part) return std::string(core.name);
  }
  std::string maker = "aarch64 processor";
  if (implementer == 0x41) maker = "Arm processor";
  if (implementer == 0x61) maker = "Apple processor";
  if (implementer == 0x51) maker = "Qualcomm processor";
  char text[64];
  char* end = text;
  auto append = [&](std::string_view words, std::uint32_t value) {
    end = std::copy(words.begin(), words.end(), end);
    end = std::to_chars(end, text + sizeof text, value, 16).ptr;
  };
  append(" (implementer 0x", implementer);
  append(", part 0x", part);
  return maker + std::string(text, end) + ")";
}

std::optional<std::string> cpu_name_from(std::string_view cpuinfo) {
  // The Arm fields first: a 32-bit-compatible kernel also prints a "model name" that names only the architecture.
  std::optional<std::string> implementer_text = find_field(cpuinfo, "CPU implementer");
  std::optional<std::string> part_text = find_field(cpuinfo, "CPU part");
  if (implementer_text && part_text) {
    std::optional<std::uint32_t> implementer = parse_hexadecimal(*implementer_text);
    std::optional<std::uint32_t> part = parse_hexadecimal(*part_text);
    if (implementer && part) return aarch64_cpu_name(*implementer, *part);
  }
  std::optional<std::string> model = find_field(cpuinfo, "model name");
  return model && !model->empty() ? model : std::nullopt;
}

}  // namespace ingot
