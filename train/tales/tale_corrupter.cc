#include "train/tales/tale_checker.h"

namespace ingot {

Result<CorruptTale> corrupt_tale(std::string_view text, RandomNumbers& random) {
  const TaleReading reading = read_tale(text);
  if (reading.fault) {
    return Error::of(ErrorCode::invalid_argument, "expected a tale to corrupt, found in sentence ",
                     reading.fault->sentence, " ", reading.fault->found, " instead of ", reading.fault->expected);
  }
  std::vector<const TaleMention*> repeated;
  for (const TaleMention& mention : reading.mentions) {
    if (!mention.first) repeated.push_back(&mention);
  }
  // Never empty: no tale ends before its hero is named again.
  const TaleMention& mention = *repeated[random.below(repeated.size())];
  const std::string_view was = text.substr(mention.begin, mention.length);
  std::vector<std::string_view> others;
  for (const std::string& phrase : tale_grammar().phrases_of(*mention.slot)) {
    if (phrase != was) others.push_back(phrase);
  }
  const std::string_view became = others[random.below(others.size())];
  CorruptTale corrupt{std::string(text), Grammar::row_of(mention.slot->fact).name, std::string(was),
                      std::string(became)};
  corrupt.text.replace(mention.begin, mention.length, became);
  return corrupt;
}

}  // namespace ingot
