#include "cli/chat_file.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/session_options.h"
#include "model/chat/dictionary.h"
#include "model/chat/value_json.h"
#include "model/files/quoted.h"
#include "model/files/replaced_file.h"
#include "server/protocol/value_text.h"

namespace ingot {
namespace {

using chat::Kind;
using chat::Value;

constexpr std::array<std::string_view, 4> roles = {"system", "user", "assistant", "tool"};

// What is wrong with it; empty: nothing.
std::string_view wrong_with(const Value& message) {
  if (!message.is(Kind::dictionary)) return "an object";
  const Value* role = message.as_dictionary().find("role");
  if (role == nullptr || !role->is_text() || std::ranges::find(roles, role->bytes()) == roles.end()) {
    return "a role: system, user, assistant or tool";
  }
  const Value* content = message.as_dictionary().find("content");
  if (content == nullptr || !content->is_text()) return "content that is text";
  return "";
}

}  // namespace

Result<void> write_chat(const std::string& path, const std::vector<Value>& messages) {
  const std::string text = protocol::json_of(Value::list(messages)) + "\n";
  ReplacedFile file = TRY(ReplacedFile::create(path));
  TRY(file.write(std::as_bytes(std::span(text))));
  return file.commit();
}

Result<std::vector<Value>> read_chat(const std::string& path) {
  const std::string text = TRY(read_text_file(path, "a conversation"));
  const Result<Value> read = chat::value_from_json(text);
  if (!read.ok()) return read.error().within(Quoted{path});
  if (!read.value().is_list()) {
    return Error::of(ErrorCode::corrupt, Quoted{path}, ": expected a list of messages in JSON, found something else");
  }
  std::vector<Value> messages = read.value().items();
  for (std::size_t index = 0; index < messages.size(); ++index) {
    const std::string_view expected = wrong_with(messages[index]);
    if (expected.empty()) continue;
    return Error::of(ErrorCode::corrupt, Quoted{path}, ": expected ", expected, " as message ", index,
                     ", found another");
  }
  return messages;
}

}  // namespace ingot
