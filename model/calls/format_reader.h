// The comparison of renders that finds a template's marks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/calls/template_probe.h"

namespace ingot::calls {

class FormatReader {
 public:
  FormatReader(const chat::ChatTemplate& form, const TemplateTokens& tokens)
      : source_(form.source()), probe_(form, tokens) {}

  CallFormat read();

 private:
  // A call inside of a text: between the marks around it.
  struct Place {
    std::size_t begin, end;
  };

  // Empty: all went well. Otherwise why not.
  std::string read_turn();
  void read_thoughts();
  void read_thought_beside_call();
  void read_content_marks();
  std::string read_calls();
  std::string read_marks(const std::string& one, const std::string& two);
  std::string check(const std::string& one, const std::string& two) const;
  void check_texts();

  std::optional<std::string> answer_with(const std::vector<ProbedCall>& calls) const;
  // What the model writes of it: without what stands in the prompt, a thought, and the end of the turn.
  std::string own_part(const std::string& answer) const;

  std::optional<Place> locate(std::string_view text, std::size_t from, std::string_view name, std::string_view id);
  std::optional<Place> locate_object(std::string_view text, std::size_t from, std::string_view name,
                                     std::string_view id);
  std::optional<Place> locate_named(std::string_view text, std::size_t from, std::string_view name,
                                    std::string_view id);
  std::optional<Place> locate_listed(std::string_view text, std::size_t from, std::string_view name);
  bool read_function(std::string_view open, std::string_view before_text, std::string_view before_number,
                     std::string_view between);
  bool read_tags(std::string_view behind_name, std::string_view behind_key, std::string_view between);
  void read_text_marks();

  const std::string& source_;
  TemplateProbe probe_;
  CallFormat format_;
  std::string turn_;   // what stands before every answer
  std::string plain_;  // an answer that is content alone
};

}  // namespace ingot::calls
