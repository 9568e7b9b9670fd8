#include "machine/peaks_cache.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "machine/parse.h"
#include "machine/system_files.h"

namespace ingot {
namespace {

// The first line. A change of what is measured or how must change the number, so that old files are foreign.
constexpr std::string_view format_line = "ingot peaks 3";
constexpr std::string_view last_line = "end\n";  // its absence shows a file cut short

struct Field {
  std::string_view name;
  double Peaks::* rate;
};
constexpr Field fields[] = {
    {"read_bytes_per_second", &Peaks::read_bytes_per_second},
    {"write_bytes_per_second", &Peaks::write_bytes_per_second},
    {"copy_bytes_per_second", &Peaks::copy_bytes_per_second},
    {"cache_read_bytes_per_second", &Peaks::cache_read_bytes_per_second},
    {"fma_flops", &Peaks::fma_flops},
    {"int8_dot_operations", &Peaks::int8_dot_operations},
    {"int8_matrix_operations", &Peaks::int8_matrix_operations},
    {"bf16_flops", &Peaks::bf16_flops},
};

// Positive, and below what any machine does: a flipped digit is not to be believed.
bool plausible(double rate) { return std::isfinite(rate) && rate > 1e3 && rate < 1e18; }

std::optional<double> parse_double(std::string_view text) {
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "name: value" as the next line, or empty.
std::optional<std::string_view> take_field(std::string_view& rest, std::string_view name) {
  std::string_view line = take_until(rest, '\n');
  if (!line.starts_with(name)) return std::nullopt;
  line.remove_prefix(name.size());
  if (!line.starts_with(": ")) return std::nullopt;
  return line.substr(2);
}

// FNV-1a. Only names the file: the key inside it is what is compared.
std::string file_name_of(std::string_view key) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (char character : key) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3u;
  char digits[16];
  char* end = std::to_chars(digits, digits + sizeof digits, hash, 16).ptr;
  return "peaks-" + std::string(digits, end) + ".txt";
}

void make_folders(const std::string& folder) {
  // The parent may be missing too on a fresh account; more than that is not ours to make.
  std::string parent = folder.substr(0, folder.rfind('/'));
  mkdir(parent.c_str(), 0700);
  mkdir(folder.c_str(), 0700);
}

// Readers see the old file or the new one, never half of one. Failure leaves no file and is not an error.
void store(const std::string& folder, const std::string& name, const std::string& text) {
  make_folders(folder);
  std::string temporary = folder + "/peaks-XXXXXX";
  int file = mkstemp(temporary.data());
  if (file < 0) return;
  bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  bool closed = close(file) == 0;
  bool stored = written && closed && std::rename(temporary.c_str(), (folder + "/" + name).c_str()) == 0;
  if (!stored) unlink(temporary.c_str());
}

}  // namespace

std::string peaks_key(const Machine& machine, int threads) {
  std::string key = machine.cpu_model + " |";
  for (char& character : key) {
    if (character == '\n') character = ' ';  // the key is one line of the file
  }
  for (int index = 0; index < feature_count; ++index) {
    auto feature = static_cast<Feature>(index);
    if (machine.features.contains(feature)) key.append(" ").append(name_of(feature));
  }
  return key + " | threads " + std::to_string(threads);
}

std::string format_peaks(std::string_view key, const Peaks& peaks) {
  std::string text;
  text.append(format_line).append("\nkey: ").append(key);
  text.append("\nthreads: ").append(std::to_string(peaks.threads)).append("\n");
  const auto append = [&](std::string_view name, double number) {
    char digits[32];
    char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;  // shortest exact form
    text.append(name).append(": ").append(digits, end).append("\n");
  };
  append("load", peaks.load);
  for (const Field& field : fields) append(field.name, peaks.*field.rate);
  return text.append(last_line);
}

std::optional<Peaks> parse_peaks(std::string_view text, std::string_view key) {
  if (take_until(text, '\n') != format_line) return std::nullopt;
  if (take_field(text, "key") != key) return std::nullopt;
  Peaks peaks;
  std::optional<std::int64_t> threads = parse_number(take_field(text, "threads").value_or(""));
  if (!threads || *threads < 1 || *threads > 1024) return std::nullopt;
  peaks.threads = static_cast<int>(*threads);
  std::optional<double> load = parse_double(take_field(text, "load").value_or(""));
  if (!load || !(*load >= 0 && *load < 1e6)) return std::nullopt;
  peaks.load = *load;
  for (const Field& field : fields) {
    std::optional<double> rate = parse_double(take_field(text, field.name).value_or(""));
    if (!rate || !plausible(*rate)) return std::nullopt;
    peaks.*field.rate = *rate;
  }
  if (text != last_line) return std::nullopt;
  return peaks;
}

std::string default_peaks_folder() {
  // XDG Base Directory Specification: a path that is not absolute is to be ignored.
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return std::string(cache) + "/ingot";
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/') return std::string(home) + "/.cache/ingot";
  return {};
}

namespace {

// Where peaks of this machine and so many threads are remembered. An empty folder remembers nothing.
class RememberedPeaks {
 public:
  RememberedPeaks(const std::string& folder, const Machine& machine, int threads)
      : folder_(folder), key_(peaks_key(machine, threads)), name_(file_name_of(key_)), threads_(threads) {}

  std::optional<Peaks> recall() const {
    std::optional<std::string> text = folder_.empty() ? std::nullopt : read_text_file(folder_ + "/" + name_);
    std::optional<Peaks> peaks = text ? parse_peaks(*text, key_) : std::nullopt;
    return peaks && peaks->threads == threads_ ? peaks : std::nullopt;
  }
  void keep(const Peaks& peaks) const {
    if (!folder_.empty()) store(folder_, name_, format_peaks(key_, peaks));
  }

 private:
  const std::string& folder_;
  std::string key_, name_;
  int threads_;
};

Result<void> check(const Peaks& peaks) {
  for (const Field& field : fields) {
    if (plausible(peaks.*field.rate)) continue;
    return Error::of(ErrorCode::out_of_memory, "expected a measured ", field.name, ", found none: is memory short?");
  }
  return {};
}

}  // namespace

Result<Peaks> cached_peaks_in(const std::string& folder, const Machine& machine, Workers& workers,
                              MeasurePeaks measure) {
  const RememberedPeaks memory(folder, machine, workers.count());
  if (const std::optional<Peaks> remembered = memory.recall()) return *remembered;
  return peaks_measured_again_in(folder, machine, workers, measure);
}

Result<Peaks> peaks_measured_again_in(const std::string& folder, const Machine& machine, Workers& workers,
                                      MeasurePeaks measure) {
  Peaks peaks = measure(machine, workers);
  TRY(check(peaks));
  const RememberedPeaks memory(folder, machine, workers.count());
  if (const std::optional<Peaks> remembered = memory.recall()) {
    for (const Field& field : fields) peaks.*field.rate = std::max(peaks.*field.rate, (*remembered).*field.rate);
    peaks.load = std::min(peaks.load, remembered->load);
  }
  memory.keep(peaks);
  return peaks;
}

Result<void> forget_peaks_in(const std::string& folder) {
  DIR* const listed = folder.empty() ? nullptr : opendir(folder.c_str());
  if (listed == nullptr) return {};  // nothing was ever remembered
  std::string kept;
  while (const dirent* const entry = readdir(listed)) {
    const std::string_view name = entry->d_name;
    const std::string path = folder + "/" + entry->d_name;
    if (name.starts_with("peaks-") && name.ends_with(".txt") && unlink(path.c_str()) != 0) kept = path;
  }
  closedir(listed);
  if (kept.empty()) return {};
  return Error::of(ErrorCode::input_output, "expected to remove '", std::string_view(kept), "', found that it stays");
}

Result<void> forget_peaks() { return forget_peaks_in(default_peaks_folder()); }

Result<Peaks> cached_peaks(const Machine& machine, Workers& workers) {
  return cached_peaks_in(default_peaks_folder(), machine, workers, measure_peaks);
}

Result<Peaks> peaks_measured_again(const Machine& machine, Workers& workers) {
  return peaks_measured_again_in(default_peaks_folder(), machine, workers, measure_peaks);
}

}  // namespace ingot
