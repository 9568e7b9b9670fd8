#include "server/fingerprint.h"

#include "engine/model_sum.h"
#include "machine/machine.h"

namespace ingot {

std::string fingerprint_of(const Model& model, const SessionOptions& session, std::string_view chat_template,
                           std::string_view program) {
  Sum sum;
  sum.add(program);
  const FeatureSet features = Machine::detect().features;
  for (int index = 0; index < feature_count; ++index) sum.add(features.contains(static_cast<Feature>(index)));
  if (session.device != nullptr) {
    const DeviceInformation& device = session.device->device().information();
    sum.add(device.name);
    sum.add(static_cast<std::uint64_t>(device.capability));
    sum.add(static_cast<std::uint64_t>(session.device->host_layers()));
  }
  add_model(model, sum);
  sum.add(chat_template);
  sum.add(static_cast<std::uint64_t>(session.cache));
  sum.add(session.deterministic);
  for (const auto& adapter : session.adapters) add_adapter(*adapter, sum);
  return "ingot-" + sum.hexadecimal(8);
}

}  // namespace ingot
