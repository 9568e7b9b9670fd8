#include "profile/report_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "machine/feature_names.h"

namespace ingot {
namespace {

nlohmann::json json_of(const Operation& operation, const KernelTable& table, const Processor& processor) {
  nlohmann::json row = {{"name", operation.name}, {"family", operation.family()}, {"equation", operation.equation}};
  row["backward"] = nlohmann::json::array();
  for (std::string_view name : operation.backward) row["backward"].push_back(name);
  row["variants"] = nlohmann::json::array();
  const int chosen = typical_choice(operation, table);
  for (std::size_t index = 0; index < operation.variants.size(); ++index) {
    const VariantInformation& variant = operation.variants[index];
    row["variants"].push_back({{"name", variant.name},
                               {"needs", feature_names(variant.needs)},
                               {"built", variant.built},
                               {"available", availability(variant, processor) == Availability::available},
                               {"selected", static_cast<int>(index) == chosen}});
  }
  return row;
}

// JSON has no infinity; a kind mismatch (NaN against a number) is shown as null.
nlohmann::json number_or_null(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); }

}  // namespace

int typical_choice(const Operation& operation, const KernelTable& table) {
  for (std::size_t index = 0; index < operation.cases.size(); ++index) {
    if (operation.cases[index].purpose != CasePurpose::parity) continue;
    CaseBuilder builder(1, Regime::ordinary, LayoutStyle::packed, 0);
    return table.choose(operation, *operation.build(static_cast<int>(index), builder));
  }
  return operation.reference();
}

std::string operations_json(std::span<const Operation* const> operations, const KernelTable& table,
                            const Processor& processor) {
  nlohmann::json document;
  document["operations"] = nlohmann::json::array();
  for (const Operation* operation : operations) {
    document["operations"].push_back(json_of(*operation, table, processor));
  }
  return document.dump(1);
}

VerifyCounts count_rows(std::span<const VerifyRow> rows) {
  VerifyCounts counts;
  for (const VerifyRow& row : rows) {
    (row.status == VerifyStatus::passed   ? counts.passed
     : row.status == VerifyStatus::failed ? counts.failed
                                          : counts.skipped) += 1;
  }
  return counts;
}

std::string verify_json(std::span<const VerifyRow> rows, std::uint64_t seed) {
  const VerifyCounts counts = count_rows(rows);
  nlohmann::json document = {
      {"passed", counts.passed}, {"failed", counts.failed}, {"skipped", counts.skipped}, {"seed", seed}};
  document["rows"] = nlohmann::json::array();
  for (const VerifyRow& row : rows) {
    document["rows"].push_back({{"operation", row.operation},
                                {"variant", row.variant},
                                {"status", name_of(row.status)},
                                {"worst_epsilons", number_or_null(row.worst_epsilons)},
                                {"cases", row.cases},
                                {"detail", row.detail}});
  }
  return document.dump(1);
}

}  // namespace ingot
