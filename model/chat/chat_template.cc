#include "model/chat/chat_template.h"

#include "model/chat/evaluator.h"
#include "model/chat/syntax/parser.h"

namespace ingot::chat {

struct ChatTemplate::Parsed {
  std::string source;
  Block block;
};

Result<ChatTemplate> ChatTemplate::parse(std::string source) {
  Block block = TRY(parse_template(source));
  return ChatTemplate(std::make_shared<const Parsed>(Parsed{std::move(source), std::move(block)}));
}

const std::string& ChatTemplate::source() const { return parsed_->source; }

Result<std::string> ChatTemplate::render(const Value& context, const Limits& limits) const {
  return TRY(render_marked(context, limits)).bytes;
}

Result<MarkedText> ChatTemplate::render_marked(const Value& context, const Limits& limits) const {
  if (!context.is(Kind::dictionary)) {
    return Error::of(ErrorCode::invalid_argument, "expected a dictionary of variables to render with, found ",
                     context.type_name());
  }
  Runtime runtime(limits);
  Evaluator evaluator(context.as_dictionary(), runtime);
  return evaluator.render(parsed_->block);
}

}  // namespace ingot::chat
