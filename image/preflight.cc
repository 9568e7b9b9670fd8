#include "image/preflight.h"

#include <algorithm>

#include "base/system_call_numbers.h"
#include "image/bytes.h"
#include "image/kernel_image.h"

namespace ingot::image {

std::uint64_t least_memory(std::uint64_t memory_end, std::uint64_t anonymous) {
  const std::uint64_t rest = anonymous + kernel_margin;
  if (memory_end <= begin_of_high_memory) return memory_end + rest;
  // Memory above the hole: a machine has at most 3 GiB below it before it has any there.
  constexpr std::uint64_t below_the_hole = std::uint64_t{3} << 30;
  return below_the_hole + (memory_end - begin_of_high_memory) + rest;
}

std::set<std::uint32_t> system_calls_in(const ElfFile& file) {
  constexpr std::string_view call("\x0f\x05", 2), clear_eax("\x31\xc0", 2);
  constexpr char load_eax = '\xb8';
  constexpr std::size_t farthest = 24;        // bytes from the load to the call: arguments are often set in between
  constexpr std::uint32_t most_calls = 1024;  // larger constants are not numbers of calls
  std::set<std::uint32_t> used;
  for (const ElfSegment& segment : file.segments()) {
    if (segment.type != ElfSegment::load || (segment.flags & ElfSegment::execute) == 0) continue;
    const std::string_view code = file.content(segment);
    for (std::size_t at = code.find(call); at != std::string_view::npos; at = code.find(call, at + 1)) {
      const std::size_t least = at > farthest ? at - farthest : 0;
      for (std::size_t load = at; load-- > least;) {
        if (code[load] == load_eax && load + 5 <= at) {
          const auto number = number_at<std::uint32_t>(code, load + 1);
          if (number >= most_calls) continue;
          used.insert(number);
          break;
        }
        if (load + 2 == at && code.substr(load, 2) == clear_eax) {
          used.insert(0);
          break;
        }
      }
    }
  }
  return used;
}

std::vector<std::string> missing_system_calls(const std::set<std::uint32_t>& used) {
  std::vector<std::string> names;
  for (const std::uint32_t number : used) {
    const auto name = system_call_name(number);
    if (name && !is_implemented_system_call(*name)) names.emplace_back(*name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ingot::image
