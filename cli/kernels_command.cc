#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/machine_json.h"
#include "cli/pick.h"
#include "cli/terminal.h"
#include "kernels/contract/table.h"
#include "machine/machine.h"

namespace ingot::kernels_command {
namespace {

constexpr const char* examples =
    "The table chooses anew at each call, by its arguments. Shown is a typical choice: what it selects for the first "
    "of\n"
    "the operation's cases. `ingot explain MODEL` shows what it selects for each step of a model.\n"
    "\n"
    "Examples:\n"
    "  ingot kernels                       every operation, a line each\n"
    "  ingot kernels attention             one family\n"
    "  ingot kernels linear.matmul         one operation: its equation, fields and variants\n"
    "  ingot kernels --json                for scripts";

struct Options {
  std::string operation;
  bool json = false;
};

// What the table picks for a typical call. A parity case stands for it: a benchmark's tensors take seconds to fill.
int typical_choice(const Operation& operation, const KernelTable& table) {
  for (std::size_t index = 0; index < operation.cases.size(); ++index) {
    if (operation.cases[index].purpose != CasePurpose::parity) continue;
    CaseBuilder builder(1, Regime::ordinary, LayoutStyle::packed, 0);
    return table.choose(operation, *operation.build(static_cast<int>(index), builder));
  }
  return operation.reference();
}

std::string why(const VariantInformation& variant, FeatureSet features, bool selected) {
  if (selected) return "typically selected: the first row whose needs hold and which takes the operation's first case";
  switch (availability(variant, features)) {
    case Availability::not_built: return "not built for this architecture";
    case Availability::lacks_features: return "this machine lacks what it needs";
    default: return "available";
  }
}

nlohmann::json json_of(const Operation& operation, const KernelTable& table, FeatureSet features) {
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
                               {"available", availability(variant, features) == Availability::available},
                               {"selected", static_cast<int>(index) == chosen}});
  }
  return row;
}

void print_line(const Operation& operation, const KernelTable& table, FeatureSet features) {
  const int chosen = typical_choice(operation, table);
  std::string variants;
  for (std::size_t index = 0; index < operation.variants.size(); ++index) {
    const VariantInformation& variant = operation.variants[index];
    const bool selected = static_cast<int>(index) == chosen;
    const bool usable = availability(variant, features) == Availability::available;
    variants += coloured(variant.name, selected ? Colour::green : usable ? Colour::plain : Colour::dim);
    variants += selected ? "* " : " ";
  }
  std::printf("  %-40s %s\n", std::string(operation.name).c_str(), variants.c_str());
}

void print_details(const Operation& operation, const KernelTable& table, FeatureSet features) {
  std::printf("%s\n  %s\n\n", coloured(operation.name, Colour::bold).c_str(), std::string(operation.equation).c_str());
  for (const FieldInformation& field : operation.fields) {
    std::printf("  %-18s %s%s\n", std::string(field.name).c_str(), std::string(name_of(field.role)).c_str(),
                field.presence == Presence::optional ? ", optional" : "");
  }
  std::printf("\n");
  if (operation.backward.empty()) {
    std::printf("  backward: none (%s)\n\n", std::string(operation.no_backward).c_str());
  } else {
    std::printf("  backward:");
    for (std::string_view name : operation.backward) std::printf(" %s", std::string(name).c_str());
    std::printf("\n\n");
  }
  const int chosen = typical_choice(operation, table);
  std::printf("  variants, best first; each call takes the first whose needs hold and which accepts its arguments\n");
  for (std::size_t index = 0; index < operation.variants.size(); ++index) {
    const VariantInformation& variant = operation.variants[index];
    std::string needs;
    for (const std::string& name : feature_names(variant.needs)) needs += (needs.empty() ? "needs " : ", ") + name;
    std::printf("  %-25s %-36s %s\n", std::string(variant.name).c_str(), needs.c_str(),
                why(variant, features, static_cast<int>(index) == chosen).c_str());
  }
}

int run(const Options& options) {
  const auto operations = pick_operations(options.operation);
  if (!operations.ok()) {
    print_error(operations.error().text());
    return exit_usage;
  }
  const Machine machine = Machine::detect();
  const auto table = KernelTable::select(operations.value(), machine.features);
  if (!table.ok()) {
    print_error(table.error().text());
    return exit_failure;
  }
  if (options.json) {
    nlohmann::json document;
    document["operations"] = nlohmann::json::array();
    for (const Operation* operation : operations.value()) {
      document["operations"].push_back(json_of(*operation, table.value(), machine.features));
    }
    std::printf("%s\n", document.dump(1).c_str());
    return exit_success;
  }
  if (operations.value().size() == 1) {
    print_details(*operations.value().front(), table.value(), machine.features);
    return exit_success;
  }
  std::string_view family;
  for (const Operation* operation : operations.value()) {
    if (operation->family() != family) {
      family = operation->family();
      std::printf("%s\n", coloured(family, Colour::bold).c_str());
    }
    print_line(*operation, table.value(), machine.features);
  }
  std::printf("\n%zu operations; * is what %s selects for the first of their cases: a call's arguments decide\n",
              operations.value().size(), machine.cpu_model.c_str());
  return exit_success;
}

}  // namespace

void add(const Command& application, int& exit_code) {
  auto options = std::make_shared<Options>();
  const Command command = application.add_subcommand("kernels", "list operations, their variants, and what runs here");
  command.footer(examples);
  command.add_option("OPERATION", options->operation, "an operation or a family; all where left out");
  command.add_flag("--json", options->json, "machine-readable output");
  command.callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace ingot::kernels_command
