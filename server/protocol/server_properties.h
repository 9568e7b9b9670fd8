// GET /props, as llama-server has it: what programs that were written for it look up before they ask.
#pragma once

#include <cstdint>
#include <string>

#include "server/protocol/served_model.h"

namespace ingot::protocol {

struct ServerProperties {
  std::string id = {};             // of the model
  std::string path = {};           // of its file
  std::string chat_template = {};  // empty: it has none
  std::string begin_token = {};    // as it is spelled; empty: it has none
  std::string end_token = {};
  std::int64_t context = 0;    // tokens that a request may have
  std::int64_t sequences = 0;  // requests that run at once
  ServedModel served = {};
};

std::string properties_answer(const ServerProperties& properties);

}  // namespace ingot::protocol
