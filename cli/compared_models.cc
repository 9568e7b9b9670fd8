#include "cli/compared_models.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/gpu_program.h"
#include "cli/terminal.h"

namespace ingot {
namespace {

constexpr std::array<std::string_view, 4> setting_names = {"threads", "cache", "pack", "device"};

Error wrong_value(std::string_view name, std::string_view expected, const std::string& found) {
  return Error::of(ErrorCode::invalid_argument, name, "=: expected ", expected, ", found '", std::string_view(found),
                   "'");
}

Result<void> set_threads(ModelOptions& options, const std::string& value) {
  int threads = 0;
  const char* end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, threads);
  if (read.ec != std::errc() || read.ptr != end || threads < 1 || threads > 1024) {
    return wrong_value("threads", "1 to 1024", value);
  }
  options.session.threads = threads;
  return {};
}

Result<void> set(ModelOptions& options, std::string_view name, const std::string& value) {
  if (name == "threads") return set_threads(options, value);
  if (name == "cache") {
    if (value != "f32" && value != "f16" && value != "q8_0") return wrong_value(name, "f32, f16 or q8_0", value);
    options.cache = value;
  } else if (name == "device") {
    const Result<void> known = check_place_name(value);
    if (!known.ok()) return known.error().within(name, "=");
    options.device = value;
  } else if (value == "always" || value == "never") {
    options.session.packing = value == "always" ? WeightPacking::always : WeightPacking::never;
  } else {
    return wrong_value(name, "always or never", value);
  }
  return {};
}

struct Side {
  std::string word;
  OpenedModel opened;
  std::vector<double> prefill;  // tokens a second, of each round
  std::vector<double> decode;
};

Result<Side> open_side(const ModelOptions& options, const GenerationRequest& request, const std::string& word) {
  ModelOptions own = TRY(options_of_side(options, word));
  if (own.session.context == 0) own.session.context = request.depth + request.prompt + request.generate;
  own.session.sequences = request.batch;
  return Side{.word = word, .opened = TRY(open_model(own)), .prefill = {}, .decode = {}};
}

Result<void> time_once(Side& side, const GenerationRequest& request) {
  GenerationRequest once = request;
  once.repeats = 1;
  const GenerationTiming timing = TRY(measure_generation(*side.opened.session, once, {}));
  side.prefill.push_back(timing.prefill_tokens_per_second.median);
  side.decode.push_back(timing.decode_tokens_per_second.median);
  return {};
}

Summary ratios(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<double> all;
  for (std::size_t round = 0; round < first.size(); ++round) all.push_back(second[round] / first[round]);
  return summarise(all);
}

nlohmann::json json_of(const Summary& summary) { return {{"median", summary.median}, {"spread", summary.spread}}; }

void print_line(const char* what, const std::vector<double>& first, const std::vector<double>& second) {
  const Summary a = summarise(first), b = summarise(second), ratio = ratios(first, second);
  std::printf("  %-8s  A %9.1f tokens/s +- %.1f%%   B %9.1f tokens/s +- %.1f%%   B/A %.3f +- %.1f%%\n", what, a.median,
              100 * a.spread, b.median, 100 * b.spread, ratio.median, 100 * ratio.spread);
}

}  // namespace

Result<ModelOptions> options_of_side(ModelOptions options, const std::string& word) {
  ModelOptions changed = options;
  for (std::size_t begin = 0; begin <= word.size();) {
    const std::size_t end = std::min(word.find(',', begin), word.size());
    const std::string setting = word.substr(begin, end - begin);
    const std::size_t equals = setting.find('=');
    const std::string_view name = std::string_view(setting).substr(0, std::min(equals, setting.size()));
    if (equals == std::string::npos || std::ranges::find(setting_names, name) == setting_names.end()) {
      options.path = word;
      return options;
    }
    TRY(set(changed, name, setting.substr(equals + 1)));
    begin = end + 1;
  }
  return changed;
}

Result<void> compare_models(const ModelOptions& options, const GenerationRequest& request,
                            const std::vector<std::string>& words, bool json) {
  std::vector<Side> sides;
  for (const std::string& word : words) sides.push_back(TRY(open_side(options, request, word)));
  {
    ProgressBar progress("generating in turn", request.repeats);
    for (int round = 0; round < request.repeats; ++round) {
      // Who comes first changes, because the second finds the machine warmer.
      for (const int turn : {0, 1}) TRY(time_once(sides[static_cast<std::size_t>((round + turn) % 2)], request));
      progress.advance("");
    }
  }
  const Side& a = sides[0];
  const Side& b = sides[1];
  if (json) {
    nlohmann::json document = {{"repeat", request.repeats},    {"prompt", request.prompt},
                               {"generate", request.generate}, {"depth", request.depth},
                               {"batch", request.batch},       {"sides", nlohmann::json::array()}};
    for (const Side& side : sides) {
      document["sides"].push_back({{"side", side.word},
                                   {"prefill_tokens_per_second", json_of(summarise(side.prefill))},
                                   {"decode_tokens_per_second", json_of(summarise(side.decode))}});
    }
    document["prefill_ratio"] = json_of(ratios(a.prefill, b.prefill));
    document["decode_ratio"] = json_of(ratios(a.decode, b.decode));
    std::printf("%s\n", document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return {};
  }
  std::printf("A %s, B %s: in turn, median of %d\n", a.word.c_str(), b.word.c_str(), request.repeats);
  print_line("prefill", a.prefill, b.prefill);
  print_line("decode", a.decode, b.decode);
  return {};
}

}  // namespace ingot
