// The benchmark as a page: a roofline plot, bars, a table. Self-contained: inline SVG, no scripts, no network.
#pragma once

#include <span>
#include <string>

#include "profile/benchmark.h"

namespace ingot {

// Written to a temporary name beside the target and then renamed: a full disk leaves no half page.
Result<void> write_html_report(const std::string& path, const Machine& machine, const Peaks& peaks,
                               std::span<const BenchmarkRow> rows);

// The page itself, for tests.
std::string html_report(const Machine& machine, const Peaks& peaks, std::span<const BenchmarkRow> rows);

}  // namespace ingot
