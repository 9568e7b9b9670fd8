// Adapter: one that was read and found to fit a model: every weight that it names is there, has the shape that it
// wants, and is read by products. Immutable: any number of sessions may share one.
#pragma once

#include <memory>

#include "engine/adapter_file.h"
#include "engine/model.h"
#include "model/plan/adapters.h"

namespace ingot {

// How much each of a session's adapters counts, by its number; those behind the last count nothing. Empty: the model
// as it is.
using AdapterScales = std::vector<float>;

inline constexpr float largest_adapter_scale = 1000;

// Without zeros at the end, so that equal sets of adapters are equal. Fails where there are more than `count`, and for
// scales that are not numbers of a usable size.
Result<AdapterScales> checked_scales(std::span<const float> scales, std::size_t count);

// For texts that share what was computed: different for different sets of adapters, the same salt for none. The secret
// keeps anybody from choosing scales that give another's salt.
std::uint64_t salt_with(std::uint64_t secret, std::uint64_t salt, const AdapterScales& scales);

class Adapter {
 public:
  // A .gguf file or a folder, as engine/adapter_file.h says.
  static Result<std::shared_ptr<const Adapter>> open(const std::string& path, const Model& model);

  const std::string& path() const { return path_; }
  AdapterFile::Form form() const { return file_.form(); }
  std::size_t weights() const { return pairs_.size(); }  // that have one
  std::int64_t largest_rank() const;
  std::int64_t bytes() const;

  // What it has for a weight, under the model's name; null: nothing. The mark is empty.
  const WeightAdapter* find(std::string_view weight) const;
  const std::map<std::string, WeightAdapter, std::less<>>& all() const { return pairs_; }

 private:
  Adapter(std::string path, AdapterFile file) : path_(std::move(path)), file_(std::move(file)) {}
  Result<void> fit(const Model& model);

  std::string path_;
  AdapterFile file_;
  Weights changed_;  // whose rows lie otherwise in the file, or are multiplied
  std::map<std::string, WeightAdapter, std::less<>> pairs_;
};

// All that a pass with these scales has.
FindAdapters finder_of(std::span<const std::shared_ptr<const Adapter>> adapters, const AdapterScales& scales);

}  // namespace ingot
