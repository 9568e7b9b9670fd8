#include "server/protocol/server_properties.h"

#include "server/protocol/json_text.h"
#include "server/protocol/sampling_settings.h"

namespace ingot::protocol {

std::string properties_answer(const ServerProperties& properties) {
  std::string json;
  JsonWriter writer(json);
  writer.open_object().key("default_generation_settings").open_object();
  writer.key("n_ctx").number(properties.context).key("params").open_object();
  add_sampling(writer, properties.served.sampling, properties.served.seed);
  writer.close_object().close_object();
  writer.key("total_slots").number(properties.sequences);
  writer.key("model_alias").text(properties.id).key("model_path").text(properties.path);
  writer.key("chat_template").text(properties.chat_template);
  writer.key("bos_token").text(properties.begin_token).key("eos_token").text(properties.end_token);
  writer.key("modalities").open_object().key("vision").boolean(false).key("audio").boolean(false).close_object();
  writer.close_object();
  return json;
}

}  // namespace ingot::protocol
