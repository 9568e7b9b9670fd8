// Whether advice to use huge pages means anything on this system.
#pragma once

#include <string_view>

namespace ingot {

// From sysfs texts, empty where a file does not exist: transparent_hugepage/enabled ("always [madvise] never"),
// transparent_hugepage/hugepages-2048kB/enabled (the same and "[inherit]", since Linux 6.8), and hpage_pmd_size.
bool transparent_huge_pages_granted(std::string_view enabled, std::string_view enabled_for_size,
                                    std::string_view huge_page_bytes);

bool transparent_huge_pages_granted();

}  // namespace ingot
