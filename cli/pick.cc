#include "cli/pick.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "kernels/all_operations.h"

namespace ingot {
namespace {

// Levenshtein distance: how many letters a typing slip changed.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (left[i] == right[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

std::string nearest_name(const std::string& text) {
  std::string_view best;
  std::size_t best_distance = text.size() + 1000;
  for (const Operation* operation : all_operations()) {
    for (std::string_view name : {operation->name, operation->family()}) {
      const std::size_t distance = edit_distance(text, name);
      if (distance >= best_distance) continue;
      best_distance = distance;
      best = name;
    }
  }
  return std::string(best);
}

}  // namespace

Result<std::vector<const Operation*>> pick_operations(const std::string& text) {
  std::vector<const Operation*> picked;
  for (const Operation* operation : all_operations()) {
    if (text.empty() || operation->name == text || operation->family() == text) picked.push_back(operation);
  }
  if (picked.empty()) {
    return Error::of(ErrorCode::not_found, "expected the name of an operation or a family, found '", text,
                     "'. Did you mean '", nearest_name(text), "'? 'ingot kernels' lists them all.");
  }
  return picked;
}

Result<void> require_variant(const std::vector<const Operation*>& operations, const std::string& variant) {
  std::set<std::string_view> known;
  for (const Operation* operation : operations) {
    for (const VariantInformation& row : operation->variants) {
      if (row.name == variant) return {};
      known.insert(row.name);
    }
  }
  std::string names;
  for (std::string_view name : known) names += (names.empty() ? "" : ", ") + std::string(name);
  return Error::of(ErrorCode::not_found, "unknown variant: expected one of ", names, ", found '", variant, "'");
}

}  // namespace ingot
