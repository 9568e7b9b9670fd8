#include "model/grammar/choices.h"

#include "base/utf8.h"
#include "model/files/quoted.h"

namespace ingot::grammar {

Result<std::shared_ptr<const Grammar>> compile_choices(std::span<const std::string> choices,
                                                       const CompileLimits& limits) {
  if (choices.empty()) return Error::of(ErrorCode::invalid_argument, "expected choices, found none");
  for (const std::string& choice : choices) {
    for (std::size_t position = 0; position < choice.size();) {
      const DecodedCharacter character = decode_utf8(choice, position);
      if (!character.is_valid) {
        return Error::of(ErrorCode::invalid_argument, "expected choices in UTF-8, found ", Quoted{choice});
      }
      position += character.size;
    }
  }
  Budget budget(limits);
  Expressions expressions(budget);
  std::vector<std::string_view> texts(choices.begin(), choices.end());
  return compile(expressions, expressions.automaton(TRY(accept_texts(std::move(texts), budget))));
}

}  // namespace ingot::grammar
