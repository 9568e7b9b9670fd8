// What a template makes of messages that hold known words in the places where calls and thoughts stand.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/calls/call_format.h"

namespace ingot::calls {

struct ProbedCall {
  std::string_view name;
  std::string_view id;
  chat::Value arguments;
};

struct ProbedMessage {
  std::optional<std::string_view> content = {};  // nothing: none, as clients send it beside calls
  std::string_view thought_field = {};           // where the thought stands; empty: there is none
  std::vector<ProbedCall> calls = {};
  bool has_arguments_as_text = false;
};

class TemplateProbe {
 public:
  TemplateProbe(const chat::ChatTemplate& form, const TemplateTokens& tokens) : form_(form), tokens_(tokens) {}

  static constexpr std::string_view question = "QuestionOfTheUser";
  static constexpr std::string_view advice = "AdviceOfTheSystem";
  static constexpr std::string_view content = "ContentOfTheAnswer";
  static constexpr std::string_view thought = "ThoughtBeforeTheAnswer";
  static constexpr std::string_view first_name = "first_function", second_name = "second_function";
  // Nine letters: a template insists on them.
  static constexpr std::string_view first_id = "firstcall", second_id = "secondcal";
  static constexpr std::string_view first_key = "alpha_key", second_key = "beta_key";
  static constexpr std::string_view first_value = "AlphaValue", second_value = "271828";

  // {alpha_key: "AlphaValue", beta_key: 271828}
  static chat::Value arguments();
  static std::vector<Tool> tools();

  // What follows the question. Nothing: the template refuses such a message.
  std::optional<std::string> answer(const ProbedMessage& message) const;
  // The same for a prompt that asks for an answer; thinking: what enable_thinking says, if anything.
  std::optional<std::string> prompt(std::optional<bool> thinking) const;
  // Whether a prompt names the tools.
  bool shows_tools() const;
  // Whether a prompt has what a system message says.
  bool shows_system() const;
  // Whether two turns of the user are refused that are taken with an answer between them.
  bool wants_turns() const;

 private:
  std::optional<std::string> render(std::vector<chat::Value> messages, bool asks, std::optional<bool> thinking) const;
  static std::optional<std::string> behind_question(const std::optional<std::string>& text);

  const chat::ChatTemplate& form_;
  const TemplateTokens& tokens_;
};

}  // namespace ingot::calls
