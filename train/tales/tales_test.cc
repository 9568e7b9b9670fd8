#include <gtest/gtest.h>

#include <map>
#include <set>

#include "train/tales/tale_checker.h"
#include "train/tales/tale_corpus.h"
#include "train/tales/tale_writer.h"

namespace ingot {
namespace {

constexpr int many = 10000;

std::vector<std::string> words_in_tale(std::string_view tale) {
  std::vector<std::string> words;
  std::string word;
  for (const char character : std::string(tale) + " ") {
    if (std::isalpha(static_cast<unsigned char>(character))) {
      word += static_cast<char>(std::tolower(character));
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

std::string exchanged(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

std::string complaint(std::string_view text) {
  const Result<TaleFacts> checked = check_tale(text);
  return checked.ok() ? "" : std::string(checked.error().text());
}

const std::string trade_tale =
    "Once there was a shy little fox named Mila. She lived by the old mill with her father. Mila wanted a red kite "
    "more "
    "than anything else. One snowy day Mila put on her mittens and went out. On the way she met a boy named Tom. In "
    "his "
    "sack he had a red kite. \"Bring me a silver bead, and it is yours,\" said Tom. So Mila hurried to the lake. She "
    "looked under a bush, and there was a silver bead. Mila brought the silver bead to Tom and got the red kite. "
    "\"Thank "
    "you, Tom,\" said Mila. When Mila walked home to the old mill, the snow still fell. Mila showed the red kite to "
    "her "
    "father. Mila the fox never forgot that snowy day.";
const std::string share_tale =
    "Once upon a time there was a little girl named Zoe. She lived by the sea. All Zoe ever wanted was a spotted ball. "
    "Then came a breezy day, and Zoe set out to look for one. By the pond she found a spotted ball on a flat rock. "
    "Then a "
    "bear named Leo came along and looked sad. \"That spotted ball is mine,\" said Leo softly. It was hard, but Zoe "
    "gave "
    "the spotted ball back to Leo. \"Let us share it, Zoe,\" said Leo. A friend like Leo is worth more than a spotted "
    "ball.";

TEST(Grammar, TablesAgreeWithThemselves) {
  const Result<Grammar> grammar = Grammar::compile();
  ASSERT_TRUE(grammar.ok()) << grammar.error().text();
}

TEST(Grammar, IsRichEnough) {
  const Grammar& grammar = tale_grammar();
  std::size_t forms = 0;
  for (const Scene& scene : grammar.scenes()) forms += scene.forms.size();
  EXPECT_GE(forms, 150u);
  EXPECT_GE(fact_count, 25u);
  EXPECT_GE(grammar.words_of(Fact::hero).words.size(), 40u);
  EXPECT_GE(grammar.words_of(Fact::object).words.size(), 30u);
  EXPECT_GE(grammar.words_of(Fact::home).words.size(), 25u);
}

// Otherwise a first mention would not say which word it is.
TEST(Grammar, NoIntroducingPhraseBeginsAnother) {
  for (const WordClass& words : make_lexicon()) {
    for (std::size_t column = 0; column < words.columns.size(); ++column) {
      if (!words.columns[column].introduces) continue;
      for (const Word& one : words.words) {
        for (const Word& other : words.words) {
          if (&one == &other) continue;
          EXPECT_FALSE((other.spellings[column] + " ").starts_with(one.spellings[column] + " "))
              << other.spellings[column];
        }
      }
    }
  }
}

TEST(TaleWriter, EveryTalePassesAndIsShort) {
  TaleWriter writer(1, HeldOut::exclude);
  std::set<std::string> distinct_words, distinct_tales;
  std::map<std::string, int> plots;
  for (int count = 0; count < many; ++count) {
    const std::string tale = writer.next();
    const Result<TaleFacts> facts = check_tale(tale);
    ASSERT_TRUE(facts.ok()) << facts.error().text() << "\n" << tale;
    const std::vector<std::string> words = words_in_tale(tale);
    ASSERT_GE(words.size(), 60u) << tale;
    ASSERT_LE(words.size(), 155u) << tale;
    ASSERT_TRUE(std::all_of(tale.begin(), tale.end(), [](char c) { return c >= ' ' && c <= '~'; })) << tale;
    ASSERT_EQ(facts.value().got_object, facts.value().plot != "share") << tale;
    distinct_words.insert(words.begin(), words.end());
    distinct_tales.insert(tale);
    ++plots[facts.value().plot];
  }
  EXPECT_GE(distinct_words.size(), 700u);
  EXPECT_EQ(distinct_tales.size(), static_cast<std::size_t>(many));
  ASSERT_EQ(plots.size(), tale_grammar().plots().size());
  for (const auto& [plot, count] : plots) EXPECT_GE(count, many / 25) << plot;
}

TEST(TaleWriter, EveryFormIsTold) {
  TaleWriter writer(2, HeldOut::ignore);
  std::set<const FormPiece*> told;
  for (int count = 0; count < many; ++count) {
    for (const TaleMention& mention : read_tale(writer.next()).mentions) told.insert(mention.slot);
  }
  for (const Scene& scene : tale_grammar().scenes()) {
    for (const Form& form : scene.forms) {
      ASSERT_TRUE(form.pieces[0].has_slot) << form.text;
      EXPECT_TRUE(told.contains(&form.pieces[0])) << form.text;
    }
  }
}

TEST(TaleWriter, SameSeedSameTalesOnEveryMachine) {
  TaleWriter first(7, HeldOut::exclude), second(7, HeldOut::exclude), other(8, HeldOut::exclude);
  bool all_same = true;
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (int count = 0; count < 100; ++count) {
    const std::string tale = first.next();
    for (const char character : tale) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3u;
    EXPECT_EQ(tale, second.next());
    all_same = all_same && tale == other.next();
  }
  EXPECT_FALSE(all_same);
  EXPECT_EQ(hash, 3541287301864879934u);  // changes with the grammar and with nothing else
}

TEST(HeldOutTriples, AreATenthAndNeverMixedUp) {
  const Grammar& grammar = tale_grammar();
  int held_out = 0, all = 0;
  for (const Word& hero : grammar.words_of(Fact::hero).words) {
    for (const Word& object : grammar.words_of(Fact::object).words) {
      for (const Word& home : grammar.words_of(Fact::home).words) {
        held_out += is_held_out(hero.spellings[0], object.spellings[0], home.spellings[0]);
        ++all;
      }
    }
  }
  EXPECT_NEAR(static_cast<double>(held_out) / all, 0.1, 0.01);
  TaleWriter exclude(3, HeldOut::exclude), only(3, HeldOut::only);
  for (int count = 0; count < 1000; ++count) {
    const TaleFacts seen = check_tale(exclude.next()).value();
    EXPECT_FALSE(is_held_out(seen.hero, seen.object, seen.home));
    const TaleFacts unseen = check_tale(only.next()).value();
    EXPECT_TRUE(is_held_out(unseen.hero, unseen.object, unseen.home));
    const TaleFacts opening = read_tale(only.next_opening()).facts;
    EXPECT_TRUE(is_held_out(opening.hero, opening.object, opening.home));
  }
}

TEST(Opening, NamesWhatWasChosen) {
  RandomNumbers random(5);
  for (int count = 0; count < 200; ++count) {
    const Result<std::string> text = tale_opening("Mila", "kite", "the old mill", random);
    ASSERT_TRUE(text.ok());
    const TaleReading reading = read_tale(text.value());
    EXPECT_EQ(reading.facts.hero, "Mila");
    EXPECT_EQ(reading.facts.object, "kite");
    EXPECT_EQ(reading.facts.home, "the old mill");
    EXPECT_FALSE(reading.facts.kind.empty());
    EXPECT_EQ(reading.facts.sentences, 3);
    ASSERT_TRUE(reading.fault) << "an opening is no whole tale";
    EXPECT_EQ(reading.fault->found, "the end");
  }
  EXPECT_NE(std::string(tale_opening("Mila", "dragon", "the sea", random).error().text()).find("found 'dragon'"),
            std::string::npos);
}

TEST(TaleChecker, ReadsTheFacts) {
  const Result<TaleFacts> facts = check_tale("\n" + trade_tale + "\n\n");
  ASSERT_TRUE(facts.ok()) << facts.error().text();
  EXPECT_EQ(facts.value().hero, "Mila");
  EXPECT_EQ(facts.value().kind, "fox");
  EXPECT_EQ(facts.value().property, "red");
  EXPECT_EQ(facts.value().friend_name, "Tom");
  EXPECT_EQ(facts.value().plot, "trade");
  EXPECT_EQ(facts.value().sentences, 14);
  EXPECT_TRUE(facts.value().got_object);
  const Result<TaleFacts> shared = check_tale(share_tale);
  ASSERT_TRUE(shared.ok()) << shared.error().text();
  EXPECT_FALSE(shared.value().got_object);
  EXPECT_EQ(shared.value().holder, "Leo");
}

TEST(TaleChecker, NamesTheSentenceWhatWasExpectedAndWhatWasFound) {
  const struct {
    std::string_view from, to, expected;
  } cases[] = {
      {"Mila wanted", "Anna wanted", "sentence 3: expected 'Mila' (the hero), found 'Anna'"},
      {"put on her", "put on his", "sentence 4: expected 'her' (the hero), found 'his'"},
      {"In his sack he", "In his sack she", "sentence 6: expected 'he' (the friend), found 'she'"},
      {"had a red kite", "had a blue kite", "sentence 6: expected 'a red' (the object's look), found 'a blue'"},
      {"a red kite. \"Bring", "a red hat. \"Bring", "sentence 6: expected 'kite' (the wanted object), found 'hat.'"},
      {"yours,\" said Tom", "yours,\" said Mila", "sentence 7: expected 'Tom' (the friend), found 'Mila.'"},
      {"was a silver", "was a golden",
       "sentence 9: expected 'a silver' (the look of the friend's thing), found 'a golden'"},
      {"got the red kite", "got the red drum", "sentence 10: expected 'kite' (the wanted object), found 'drum.'"},
      {"bead to Tom", "bead to Mila", "sentence 10: expected 'Tom' (the friend), found 'Mila'"},
      {"home to the old mill", "home to the lake",
       "sentence 12: expected 'the old mill' (the hero's home), found 'the lake"},
      {"the snow still", "the rain still",
       "sentence 12: expected 'the snow still fell' (the weather), found 'the rain still"},
      {"kite to her father", "kite to her aunt", "sentence 13: expected 'father' (the hero's family), found 'aunt.'"},
      {"Mila the fox", "Mila the goat", "sentence 14: expected 'fox' (what the hero is), found 'goat'"},
      {"hurried to the lake", "hurry to the lake", "sentence 8: expected 'hurried', found 'hurry'"},
      {"fox named Mila", "fox named Bob",
       "sentence 1: expected a word for the hero that fits what is known, found 'Bob.'"},
      {" to her father. Mila the", " to her father.  Mila the",
       "expected a sentence of the scene 'ending', found a space"},
  };
  for (const auto& one : cases) {
    const std::string found = complaint(exchanged(trade_tale, one.from, one.to));
    EXPECT_NE(found.find(one.expected), std::string::npos) << "expected: " << one.expected << "\nfound: " << found;
  }
}

TEST(TaleChecker, KeepsWhoHasTheObject) {
  // Only who has it may keep it; everything else in these sentences is right.
  EXPECT_NE(complaint(exchanged(share_tale, "A friend like Leo is worth more than a spotted ball.",
                                "Zoe kept the spotted ball for ever."))
                .find("sentence 10: expected a sentence that agrees with who has the object ('Leo'), found 'Zoe'"),
            std::string::npos);
  EXPECT_EQ(complaint(exchanged(share_tale, "A friend like Leo is worth more than a spotted ball.",
                                "Leo kept the ball, but Zoe could play with it every day.")),
            "");
  EXPECT_NE(complaint(exchanged(trade_tale, "Mila the fox never forgot that snowy day.",
                                "Tom kept the kite, but Mila could play with it every day.")),
            "");
}

TEST(TaleChecker, RefusesWordsThatDoNotFit) {
  EXPECT_NE(complaint(exchanged(trade_tale, "a boy named Tom", "a boy named Anna")), "");
  EXPECT_NE(complaint(exchanged(trade_tale, "a boy named Tom", "a boy named Mila")), "");
  EXPECT_NE(complaint(exchanged(trade_tale, "wanted a red kite", "wanted a golden kite")), "");
  EXPECT_NE(complaint(exchanged(trade_tale, "her mittens", "her sandals")), "");
  EXPECT_NE(complaint(exchanged(trade_tale, "hurried to the lake", "hurried to the old mill")), "");
  EXPECT_NE(complaint(exchanged(trade_tale, "wanted a red kite", "wanted an red kite")), "");
}

TEST(TaleChecker, RefusesOneWrongFactInNinetyNineOfAHundred) {
  TaleWriter writer(4, HeldOut::ignore);
  RandomNumbers random(4);
  int missed = 0;
  std::set<std::string_view> facts;
  for (int count = 0; count < many; ++count) {
    const std::string tale = writer.next();
    const Result<CorruptTale> corrupt = corrupt_tale(tale, random);
    ASSERT_TRUE(corrupt.ok());
    ASSERT_NE(corrupt.value().text, tale);
    ASSERT_NE(corrupt.value().was, corrupt.value().became);
    facts.insert(corrupt.value().fact);
    missed += check_tale(corrupt.value().text).ok();
  }
  EXPECT_LE(missed, many / 100);
  EXPECT_GE(facts.size(), 20u);
}

// Corruption that knows nothing of forms: any later name becomes the other person's.
TEST(TaleChecker, RefusesHeroAndFriendMixedUp) {
  TaleWriter writer(6, HeldOut::ignore);
  int tried = 0, missed = 0;
  for (int count = 0; count < 1000; ++count) {
    const std::string tale = writer.next();
    const TaleFacts facts = check_tale(tale).value();
    const std::size_t after = tale.find(facts.friend_name) + facts.friend_name.size();
    for (std::size_t at = after; (at = tale.find(facts.hero, at)) != std::string::npos; ++at) {
      std::string mixed = tale;
      missed += check_tale(mixed.replace(at, facts.hero.size(), facts.friend_name)).ok();
      ++tried;
    }
  }
  EXPECT_GT(tried, 3000);
  EXPECT_LE(missed, tried / 100);
}

TEST(TaleChecker, RefusesPartsAndRubbish) {
  for (std::size_t length = 0; length < trade_tale.size(); ++length) {
    EXPECT_FALSE(check_tale(trade_tale.substr(0, length)).ok()) << length;
  }
  EXPECT_NE(complaint(trade_tale + " Mila slept.").find("expected the end of the tale, found 'Mila'"),
            std::string::npos);
  EXPECT_FALSE(check_tale(trade_tale + trade_tale).ok());
  EXPECT_FALSE(check_tale(std::string(1 << 20, '.')).ok());
  EXPECT_FALSE(check_tale(std::string(1 << 20, ' ')).ok());
  EXPECT_FALSE(check_tale(std::string_view("\0\xff\x80", 3)).ok());
  RandomNumbers random(9);
  for (int count = 0; count < 5000; ++count) {
    std::string text = trade_tale;
    text[random.below(text.size())] = static_cast<char>(random.below(256));
    const TaleReading reading = read_tale(text);
    EXPECT_EQ(reading.fault.has_value(), text != trade_tale) << text;
  }
  EXPECT_FALSE(corrupt_tale("no tale", random).ok());
}

TEST(TaleCorpus, SplitsAtTheMarkers) {
  std::string corpus;
  append_tale(corpus, "one");
  append_tale(corpus, "two");
  EXPECT_EQ(corpus, "one\n<|end|>\ntwo\n<|end|>\n");
  corpus += "<|end|> \n three";
  TaleSplitter tales(corpus);
  EXPECT_EQ(tales.next(), "one");
  EXPECT_EQ(tales.next(), "two");
  EXPECT_EQ(tales.next(), "three");
  EXPECT_EQ(tales.next(), std::nullopt);
}

}  // namespace
}  // namespace ingot
