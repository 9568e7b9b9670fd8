// The benchmark as a page: a roofline plot, bars, a table. Self-contained: inline SVG, no scripts, no network.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "profile/benchmark.h"

namespace ingot {

// `processor` is the CPU or the device that ran the rows, by its name.
// Written to a temporary name beside the target and then renamed: a full disk leaves no half page.
Result<void> write_html_report(const std::string& path, std::string_view processor, const Peaks& peaks,
                               std::span<const BenchmarkRow> rows);

// The page itself, for tests.
std::string html_report(std::string_view processor, const Peaks& peaks, std::span<const BenchmarkRow> rows);

}  // namespace ingot
