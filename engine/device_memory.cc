#include "engine/device_memory.h"

#include <algorithm>

#include "engine/cache_budget.h"

namespace ingot {
namespace {

// Tokens of a sequence for which there would be room; 0: for none, or they are not what takes it.
std::int64_t context_that_fits(const DeviceNeeds& needs, std::size_t free_bytes) {
  const std::size_t pages = needs.page * static_cast<std::size_t>(needs.pages);
  const std::size_t others = needs.total() - pages;
  if (needs.page == 0 || others >= free_bytes) return 0;
  const auto fitting = static_cast<std::int64_t>((free_bytes - others) / needs.page);
  return fitting / needs.sequences * needs.page_length;
}

}  // namespace

Result<void> require_device_memory(Device& device, const DeviceNeeds& needs) {
  const DeviceMemoryState state = TRY(device.memory_state());
  if (needs.total() <= state.free_bytes) return {};
  const std::int64_t context = context_that_fits(needs, state.free_bytes);
  FixedText<120> help;
  if (needs.can_be_split && needs.host_layers < needs.layers) help.append("give --split auto, ");
  if (context > 0) {
    help.append_all("give a --context of at most ", context, ", or end what else runs there");
  } else {
    help.append("end what else runs there, or take smaller weights");
  }
  return Error::of(ErrorCode::out_of_memory, "expected ", needs.total(), " bytes on ",
                   std::string_view(device.information().name), ", ", needs.weights, " for weights, ", needs.cache,
                   " for a cache of ", needs.pages * needs.page_length, " tokens and ", needs.passes,
                   " for passes, found ", state.free_bytes, " of ", state.total_bytes, " free: ", help.view());
}

Result<std::int64_t> find_host_layers(Device& device, const std::shared_ptr<const Model>& model,
                                      const SessionOptions& options) {
  const std::int64_t layers = model->facts().layers;
  const std::size_t free_bytes = TRY(device.memory_state()).free_bytes;
  // Beside what sessions need: what a driver rounds up to for each cache, and what it holds for itself.
  const std::size_t most_beside = (std::size_t{64} << 20) + (std::size_t{4} << 20) * static_cast<std::size_t>(layers);
  const std::size_t beside = std::min(free_bytes / 16, most_beside);
  const auto needs_with = [&](std::int64_t host_layers) {
    return Session::needs_on(device.information(), model, options, host_layers);
  };
  const auto fits = [&](const DeviceNeeds& needs) { return needs.total() + beside <= free_bytes; };
  if (TRY(needs_with(0)).total() <= free_bytes) return 0;
  if (model->facts().is_recurrent) {
    return Error::of(ErrorCode::unsupported, "--split auto: expected a model without recurrent states, found ",
                     std::string_view(model->facts().architecture),
                     ", which does not fit the device: end what else runs there, or take smaller weights");
  }
  // The more layers stay, the less is needed: the least number lies between one that is too few and one that is enough.
  std::int64_t too_few = 0;
  std::int64_t enough = layers;
  const DeviceNeeds least = TRY(needs_with(enough));
  if (!fits(least)) {
    TRY(require_device_memory(device, least));
    return layers;
  }
  while (enough - too_few > 1) {
    const std::int64_t middle = (too_few + enough) / 2;
    (fits(TRY(needs_with(middle))) ? enough : too_few) = middle;
  }
  return enough;
}

Result<DeviceNeeds> Session::needs_on(const DeviceInformation& device, std::shared_ptr<const Model> model,
                                      SessionOptions options, std::int64_t host_layers) {
  Session session(std::move(model), std::move(options));
  session.host_layers_ = host_layers;
  TRY(session.choose_device_rows(device));
  TRY(session.prepare());
  TRY(session.share_memory());
  const CacheGeometry& geometry = session.geometry_;
  const CacheCosts costs = cache_costs(TRY(session.rewritten_circuit({.runs = {1}, .outputs = 1})), geometry);
  const DeviceModel::Use use = use_of(device, session.options_, host_layers);
  DeviceNeeds needs = {.weights = TRY(DeviceModel::bytes_of(*session.model_, device, use)),
                       .page = static_cast<std::size_t>(costs.page),
                       .pages = geometry.pages,
                       .page_length = geometry.page_length,
                       .sequences = geometry.sequences,
                       .layers = session.model_->facts().layers,
                       .host_layers = host_layers,
                       .can_be_split = !session.model_->facts().is_recurrent};
  needs.cache = static_cast<std::size_t>(costs.page * geometry.pages + costs.sequence * geometry.sequences);
  std::size_t arena = 0;
  std::size_t scratch = 0;
  const std::int64_t chunk = std::min(session.options_.chunk, session.context_);
  const std::int64_t sequences = std::min<std::int64_t>(session.options_.chunk, session.options_.sequences);
  std::vector<PassShape> passes = {{.runs = {1}, .outputs = 1},
                                   {.runs = {chunk}, .outputs = std::min(chunk, sequences)}};
  // A token of all of them; but states have steps of their own for each, and hundreds take seconds to plan.
  if (!session.model_->facts().is_recurrent) {
    passes.push_back({.runs = std::vector<std::int64_t>(static_cast<std::size_t>(sequences), 1), .outputs = sequences});
  }
  for (PassShape& pass : passes) {
    pass.adapters.assign(session.options_.adapters.size(), 1.0F);  // with all of them, whatever is asked for
    Circuit circuit = TRY(session.rewritten_circuit(pass));
    const Plan plan = TRY(Plan::create(std::move(circuit), *session.device_table_, session.workers_->count(),
                                       Place::device(device.index), session.table_.get()));
    arena = std::max(arena, static_cast<std::size_t>(plan.arena_bytes()));
    scratch = std::max(scratch, plan.scratch_bytes());
  }
  needs.passes = arena + scratch;
  for (const auto& adapter : session.options_.adapters) needs.weights += static_cast<std::size_t>(adapter->bytes());
  return needs;
}

}  // namespace ingot
