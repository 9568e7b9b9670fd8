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
    "Once there was a careful tailor named Mila. Mila lived by the old mill with her father. Mila the tailor wanted a "
    "red kite. One snowy day Mila took two apples and left the old mill. On a fence Mila met a sleepy badger. In its "
    "sack the sleepy badger had a red kite. \"Bring me a smooth bead, Mila,\" said the sleepy badger. So Mila the "
    "tailor hurried to the lake to find the bead. There, under a bush, Mila the tailor found a smooth bead. Mila gave "
    "the badger the smooth bead and got the red kite. Mila and the sleepy badger played with the red kite. Soon Mila "
    "the "
    "tailor "
    "was back by the old mill. There Mila the tailor showed everyone the red kite. Mila the tailor never forgot the "
    "sleepy badger.";
const std::string share_tale =
    "Zoe was a daring baker. Her home was a round hut by the ferry. A spotted ball was all Zoe wished for. On a "
    "misty "
    "day Zoe the baker left the ferry. Near the pond Zoe found a spotted ball on a flat rock. Then a shy bear came up "
    "to "
    "Zoe the baker. \"That spotted ball is mine, Zoe,\" said the shy bear. Zoe gave the shy bear the spotted ball "
    "back. "
    "The shy bear let Zoe the baker use the spotted ball. A shy bear is worth more than a spotted ball.";

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
  EXPECT_EQ(hash, 8867269162055112145u);  // changes with the grammar and with nothing else
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
    EXPECT_FALSE(reading.facts.trade.empty());
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
  EXPECT_EQ(facts.value().trade, "tailor");
  EXPECT_EQ(facts.value().look, "red");
  EXPECT_EQ(facts.value().friend_animal, "badger");
  EXPECT_EQ(facts.value().plot, "trade");
  EXPECT_EQ(facts.value().sentences, 14);
  EXPECT_TRUE(facts.value().got_object);
  const Result<TaleFacts> shared = check_tale(share_tale);
  ASSERT_TRUE(shared.ok()) << shared.error().text();
  EXPECT_FALSE(shared.value().got_object);
  EXPECT_EQ(shared.value().holder, "friend");
}

TEST(TaleChecker, NamesTheSentenceWhatWasExpectedAndWhatWasFound) {
  const struct {
    std::string_view from, to, expected;
  } cases[] = {
      {"Mila lived", "Anna lived", "sentence 2: expected 'Mila' (the hero), found 'Anna'"},
      {"with her father", "with his father", "sentence 2: expected 'her' (the hero), found 'his'"},
      {"Mila the tailor wanted", "Mila the baker wanted",
       "sentence 3: expected 'tailor' (the hero's trade), found 'baker'"},
      {"left the old mill", "left the farm", "sentence 4: expected 'the old mill' (the hero's home), found 'the farm."},
      {"sack the sleepy badger", "sack the sleepy fox", "sentence 6: expected 'badger' (the friend), found 'fox'"},
      {"had a red kite", "had a blue kite", "sentence 6: expected 'a red' (the object's look), found 'a blue'"},
      {"a red kite. \"Bring", "a red hat. \"Bring", "sentence 6: expected 'kite' (the wanted object), found 'hat.'"},
      {"said the sleepy", "said the shy", "sentence 7: expected 'sleepy' (the friend's manner), found 'shy'"},
      {"find the bead", "find the egg", "sentence 8: expected 'bead' (the friend's thing), found 'egg.'"},
      {"found a smooth", "found a round",
       "sentence 9: expected 'a smooth' (how the friend's thing feels), found 'a round'"},
      {"got the red kite", "got the red drum", "sentence 10: expected 'kite' (the wanted object), found 'drum.'"},
      {"back by the old mill", "back by the farm",
       "sentence 12: expected 'the old mill' (the hero's home), found 'the farm"},
      {"There Mila the tailor", "There Mila the weaver",
       "sentence 13: expected 'tailor' (the hero's trade), found 'weaver'"},
      {"hurried to the lake", "hurry to the lake", "sentence 8: expected 'hurried', found 'hurry'"},
      {"tailor named Mila", "tailor named Bob", "sentence 1: expected a word for the hero, found 'Bob.'"},
      {" red kite. Mila the tailor never", " red kite.  Mila the tailor never",
       "expected a sentence of the scene 'ending', found a space"},
  };
  for (const auto& one : cases) {
    const std::string found = complaint(exchanged(trade_tale, one.from, one.to));
    EXPECT_NE(found.find(one.expected), std::string::npos) << "expected: " << one.expected << "\nfound: " << found;
  }
}

TEST(TaleChecker, KeepsWhoHasTheObject) {
  // Only who has it may keep it; everything else in these sentences is right.
  constexpr std::string_view shared_end = "A shy bear is worth more than a spotted ball.";
  EXPECT_NE(complaint(exchanged(share_tale, shared_end, "Zoe the baker kept the spotted ball for ever."))
                .find("sentence 10: expected a sentence that agrees with who has the object ('friend'), found 'Zoe'"),
            std::string::npos);
  EXPECT_EQ(complaint(exchanged(share_tale, shared_end, "The shy bear kept the spotted ball, and Zoe was glad.")), "");
  EXPECT_NE(complaint(exchanged(trade_tale, "Mila the tailor never forgot the sleepy badger.",
                                "The sleepy badger kept the red kite, and Mila was glad.")),
            "");
}

TEST(TaleChecker, KeepsWhereTheyAre) {
  // From home nobody walks home.
  EXPECT_NE(complaint(exchanged(trade_tale, "Soon Mila the tailor was back by the old mill.",
                                "Mila the tailor walked from the lake back to the old mill."))
                .find("agrees with the place they are at"),
            std::string::npos);
  // Who is not at home has nobody to show it to.
  EXPECT_NE(complaint(exchanged(trade_tale, "Soon Mila the tailor was back by the old mill. ", "")), "");
}

TEST(TaleChecker, RefusesWordsThatDoNotFit) {
  EXPECT_NE(complaint(exchanged(trade_tale, "a sleepy badger", "a sleepy tailor")), "");
  EXPECT_NE(complaint(exchanged(trade_tale, "wanted a red kite", "wanted a smooth kite")), "");
  EXPECT_NE(complaint(exchanged(trade_tale, "hurried to the lake", "hurried to the farm")), "");
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
  EXPECT_GE(facts.size(), 16u);
}

// Corruption that knows nothing of forms: any later name becomes another one.
TEST(TaleChecker, RefusesAnotherHero) {
  TaleWriter writer(6, HeldOut::ignore);
  int tried = 0, missed = 0;
  for (int count = 0; count < 1000; ++count) {
    const std::string tale = writer.next();
    const std::string hero = check_tale(tale).value().hero;
    const std::string other = hero == "Mila" ? "Anna" : "Mila";
    for (std::size_t at = tale.find(hero) + 1; (at = tale.find(hero, at)) != std::string::npos; ++at) {
      std::string mixed = tale;
      missed += check_tale(mixed.replace(at, hero.size(), other)).ok();
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
