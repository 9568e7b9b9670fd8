#include "tests/network/commands.h"

#include <algorithm>
#include <array>

namespace ingot::network_scripts {
namespace {

// Words by spaces, with quotes taken off: a="1 2" is one.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool is_quoted = false, is_open = false;
  for (const char character : line) {
    if (character == '"' || character == '\'') {
      is_quoted = !is_quoted;
      is_open = true;
    } else if (!is_quoted && (character == ' ' || character == '\t')) {
      if (is_open || !word.empty()) words.push_back(word);
      word.clear();
      is_open = false;
    } else {
      word += character;
    }
  }
  if (is_open || !word.empty()) words.push_back(word);
  return words;
}

// Lines, those that end with a backslash joined with the next, without comments.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines(1);
  for (std::size_t index = 0; index < text.size(); ++index) {
    if (text[index] == '\\' && index + 1 < text.size() && text[index + 1] == '\n') {
      lines.back() += ' ';
      ++index;
    } else if (text[index] == '#' && (index == 0 || text[index - 1] == ' ' || text[index - 1] == '\n')) {
      index = std::min(text.find('\n', index), text.size()) - 1;
    } else if (text[index] == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += text[index];
    }
  }
  return lines;
}

Error meaningless(std::string_view line) {
  return Error::of(ErrorCode::unsupported, "the command ", line.substr(0, 100));
}

Result<void> change_setting(std::string_view assignment, Profile& profile) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) return meaningless(assignment);
  const std::string_view name = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  if (apply_setting(profile, name, value) == SettingOutcome::unknown) {
    return Error::of(ErrorCode::unsupported, "the setting ", name, "=", value);
  }
  return {};
}

// sockstat ... | grep -c STATE | grep DIGITS: the count's digits hold these.
Result<void> ask_for_states(std::string_view line, StackUnderTest& stack) {
  const std::vector<std::string> words = words_of(line);
  const auto counted = std::ranges::find(words, "-c");
  if (words.size() < 4 || counted == words.end() || counted + 1 == words.end()) return meaningless(line);
  const bool owned = line.find("grep packetdril") != std::string_view::npos;
  const auto count = stack.count_in_state(*(counted + 1), owned);
  if (!count) return meaningless(line);
  if (std::to_string(*count).find(words.back()) != std::string::npos) return {};
  return Error::of(ErrorCode::corrupt, "connections in ", *(counted + 1), ": expected ", words.back(), ", actual ",
                   *count);
}

// What prepares a real machine: offloads of a device whose packets are joined before they are compared, a queue that
// paces by what TCP says, files of zeros.
bool is_without_effect(std::string_view line) {
  constexpr std::array<std::string_view, 6> harmless = {
      "/tmp/sysctl_restore_", "ethtool -K tun0 ", "tc qdisc replace dev tun0 root fq",
      "ip tcp_metrics flush", "/bin/rm -f /tmp/", "/bin/dd "};
  return std::ranges::any_of(harmless, [&](std::string_view begin) { return line.starts_with(begin); });
}

Result<void> run_line(std::string_view line, Profile& profile, StackUnderTest& stack) {
  const std::vector<std::string> words = words_of(line);
  if (words.empty() || is_without_effect(line)) return {};
  if (words[0].ends_with("common/defaults.sh")) return profile = linux_profile(), Result<void>();
  if (words[0] == "sockstat") return ask_for_states(line, stack);
  if (words[0] == "tcpdrop" && words.size() == 3 && words[1] == "-s")
    return stack.drop_in_state(words[2]), Result<void>();
  if (words[0] != "sysctl" && !words[0].ends_with("common/set_sysctls.py")) return meaningless(line);
  for (std::size_t index = 1; index < words.size(); ++index) {
    if (words[index].starts_with('-')) continue;
    TRY(change_setting(words[index], profile));
  }
  return {};
}

}  // namespace

Result<void> run_command(std::string_view text, Profile& profile, StackUnderTest& stack) {
  for (const std::string& line : lines_of(text)) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos) TRY(run_line(std::string_view(line).substr(begin), profile, stack));
  }
  const std::string missing = stack.configure(profile);
  if (!missing.empty()) return Error::of(ErrorCode::unsupported, "the stack has no setting ", missing);
  return {};
}

}  // namespace ingot::network_scripts
