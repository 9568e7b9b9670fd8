// What requests for chats and for completions have in common: how to draw, when to end, how to answer.
#pragma once

#include <optional>
#include <string>

#include "engine/generation.h"
#include "server/protocol/answer_shape.h"
#include "server/protocol/field_reader.h"
#include "server/protocol/logit_biases.h"
#include "server/protocol/served_model.h"

namespace ingot::protocol {

struct GenerationRequest {
  std::string model = {};                        // empty: none was named
  std::optional<std::int64_t> most_tokens = {};  // nothing: as many as fit the context
  std::optional<std::uint64_t> seed = {};        // nothing: any
  std::int64_t choices = 1;                      // for each prompt
  bool is_streamed = false;
  bool tells_usage = true;           // in a stream: where asked for
  bool tells_probabilities = false;  // of tokens, in the answer
  bool tells_timings = false;        // in each chunk of a stream that has text; its end tells them anyway
  bool shares_cache = true;          // what is computed for it, and for others
  std::string cache_salt = {};       // with whom it shares what is computed; empty: with all of its key
  std::optional<std::vector<float>> adapters = {};  // how much each counts; nothing: as the model's name says
  std::vector<TextBias> text_biases = {};           // for whoever has a tokenizer to add to those of tokens
  std::optional<AnswerShape> shape = {};  // that the answer must have, for whoever has a tokenizer to compile it for
  // Everything but the prompt, the seed, most_tokens, the shape and who asks.
  TextRequest text = {};
};

// Reads the fields that both kinds have under the same names, harmless and refused ones too.
void read_generation_fields(FieldReader& reader, const ServedModel& model, GenerationRequest& request,
                            BiasForm form = BiasForm::openai);
// Texts at which an answer ends, one or a list of them, added to those that are there.
void read_stops(FieldReader& reader, std::string_view name, std::vector<std::string>& stops);
// No answer can be longer than its longest and shorter than its shortest.
void check_lengths(FieldReader& reader, const GenerationRequest& request);

}  // namespace ingot::protocol
