#include "machine/huge_pages.h"

#include "machine/parse.h"
#include "machine/system_files.h"

namespace ingot {

bool transparent_huge_pages_granted(std::string_view enabled, std::string_view enabled_for_size,
                                    std::string_view huge_page_bytes) {
  auto chosen = [](std::string_view text, std::string_view choice) {
    return text.find(choice) != std::string_view::npos;
  };
  // A kernel with 64 KiB pages has huge pages of 512 MiB: our 2 MiB alignment earns nothing there.
  std::optional<std::int64_t> bytes = parse_number(huge_page_bytes);
  if (bytes && *bytes != (std::int64_t{2} << 20)) return false;
  // The setting for the size governs, unless it inherits or an older kernel has none.
  bool own_setting = !enabled_for_size.empty() && !chosen(enabled_for_size, "[inherit]");
  return !chosen(own_setting ? enabled_for_size : enabled, "[never]");
}

bool transparent_huge_pages_granted() {
  const std::string folder = "/sys/kernel/mm/transparent_hugepage/";
  auto read = [&](const char* name) { return read_text_file(folder + name).value_or(""); };
  return transparent_huge_pages_granted(read("enabled"), read("hugepages-2048kB/enabled"), read("hpage_pmd_size"));
}

}  // namespace ingot
