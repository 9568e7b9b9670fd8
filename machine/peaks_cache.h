// Measured peaks on disk: a small text file per machine and thread count.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "machine/peaks.h"

namespace ingot {

// What the numbers are numbers of. Equal keys, equal machine.
std::string peaks_key(const Machine& machine, int threads);

std::string format_peaks(std::string_view key, const Peaks& peaks);

// Empty unless the text is complete, is for this key, and every number is a plausible rate.
std::optional<Peaks> parse_peaks(std::string_view text, std::string_view key);

// $XDG_CACHE_HOME/ingot or ~/.cache/ingot; empty where neither is set to an absolute path.
std::string default_peaks_folder();

// Forgets what was remembered, of every machine and thread count: a rate that was measured too high would stay for
// ever otherwise. Fails where a file cannot be removed. The first is of the default folder.
Result<void> forget_peaks();
Result<void> forget_peaks_in(const std::string& folder);

// As cached_peaks, with the folder (empty: no cache) and the measurement to fall back on.
using MeasurePeaks = Peaks (*)(const Machine& machine, Workers& workers);
Result<Peaks> cached_peaks_in(const std::string& folder, const Machine& machine, Workers& workers,
                              MeasurePeaks measure);
// As peaks_measured_again, in the same way.
Result<Peaks> peaks_measured_again_in(const std::string& folder, const Machine& machine, Workers& workers,
                                      MeasurePeaks measure);

}  // namespace ingot
