#include "kernels/pick.h"

#include <algorithm>
#include <set>

#include "base/edit_distance.h"
#include "kernels/all_operations.h"

namespace ingot {
namespace {

// " Did you mean 'x'?", where a name is near enough that someone may have.
std::string guess(const std::string& text) {
  std::string_view best;
  std::size_t best_distance = text.size() / 2 + 1;
  for (const Operation* operation : all_operations()) {
    for (std::string_view name : {operation->name, operation->family()}) {
      const std::size_t distance = edit_distance(text, name);
      if (distance >= best_distance) continue;
      best_distance = distance;
      best = name;
    }
  }
  return best.empty() ? "" : " Did you mean '" + std::string(best) + "'?";
}

}  // namespace

Result<std::vector<const Operation*>> pick_operations(const std::string& text) {
  std::vector<const Operation*> picked;
  for (const Operation* operation : all_operations()) {
    if (text.empty() || operation->name == text || operation->family() == text) picked.push_back(operation);
  }
  if (picked.empty()) {
    return Error::of(ErrorCode::not_found, "expected the name of an operation or a family, found '", text, "'.",
                     guess(text), " 'ingot kernels' lists them all.");
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

Error nothing_runs_there(const std::string& text, const std::string& variant, std::string_view processor) {
  const std::string called = variant.empty() ? "" : " called '" + variant + "'";
  const std::string of = text.empty() ? "" : " of " + text;
  return Error::of(ErrorCode::not_found, "expected a variant", called, of, " that runs on ", processor,
                   ", found none that takes one of its cases: 'ingot kernels OPERATION' says where each runs");
}

}  // namespace ingot
