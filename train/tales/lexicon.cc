#include "train/tales/lexicon.h"

#include <array>

namespace ingot {
namespace {

using namespace word_group;

struct Entry {
  std::string_view spellings;  // columns, divided by |
  std::uint32_t groups = 0;
};

constexpr std::string_view girls_names =
    "Mila|Anna|Lucy|Rosa|Nora|Ella|Ivy|Clara|Daisy|Hazel|Lily|Maya|Penny|Ruby|Sophie|Tess|Willa|Zoe|Emma|Greta";
constexpr std::string_view boys_names =
    "Ben|Tom|Max|Leo|Finn|Oscar|Hugo|Jack|Sam|Theo|Felix|Milo|Noah|Otto|Paul|Rufus|Toby|Walter|Jasper|Emil";

constexpr Entry kinds[] = {
    {"girl", female},   {"boy", male},        {"fox", gender},    {"rabbit", gender}, {"bear", gender},
    {"mouse", gender},  {"squirrel", gender}, {"badger", gender}, {"otter", gender},  {"hedgehog", gender},
    {"kitten", gender}, {"puppy", gender},    {"lamb", gender},   {"goat", gender},   {"pony", gender},
    {"frog", gender},   {"mole", gender},     {"beaver", gender}, {"deer", gender},   {"duckling", gender},
};

constexpr Entry traits[] = {{"brave"},  {"kind"},     {"shy"},     {"curious"}, {"cheerful"},
                            {"clever"}, {"gentle"},   {"merry"},   {"quiet"},   {"patient"},
                            {"lively"}, {"friendly"}, {"hopeful"}, {"proud"},   {"thoughtful"}};

// What is seen there suits every weather and season.
constexpr Entry places[] = {
    {"the old mill|by the old mill|The big wheel turned round and round."},
    {"the river|by the river|The water was cold and clear."},
    {"the dark forest|in the dark forest|The trees were tall and still."},
    {"the lake|by the lake|Little waves rolled over the stones."},
    {"the village|in the village|Smoke rose from the chimneys."},
    {"the farm|on the farm|A rooster stood on the gate and crowed."},
    {"the meadow|in the meadow|The long grass whispered softly."},
    {"the harbour|by the harbour|The ships rocked gently up and down."},
    {"the lighthouse|near the lighthouse|Its great lamp blinked far across the water."},
    {"the castle|near the castle|Bright flags flew from the towers."},
    {"the stone bridge|under the stone bridge|Every footstep made an echo."},
    {"the orchard|in the orchard|The trees stood in long neat rows."},
    {"the sea|by the sea|The gulls cried over the foam."},
    {"the waterfall|near the waterfall|The spray tickled like a feather."},
    {"the valley|in the valley|A narrow road led from house to house."},
    {"the pond|by the pond|Two ducks swam past without a sound."},
    {"the station|near the station|A train blew its whistle and puffed away."},
    {"the beach|on the beach|The sand was smooth and pale."},
    {"the cave|beside the cave|Drops of water fell in the dark."},
    {"the school|behind the school|The windows were full of drawings."},
    {"the chapel|behind the chapel|The bell rang three times."},
    {"the bakery|next to the bakery|The air smelled of fresh bread."},
    {"the rose garden|in the rose garden|A gravel path led to a bench."},
    {"the crooked tower|below the crooked tower|A crow looked down from the top."},
    {"the marsh|at the edge of the marsh|The reeds swayed to and fro."},
    {"the mountain|at the foot of the mountain|The top was white with snow."},
};

constexpr Entry houses[] = {{"small house"},   {"round hut"},   {"cosy cabin"}, {"tiny cottage"},
                            {"crooked house"}, {"stone house"}, {"tall house"}, {"straw hut"}};

constexpr Entry families[] = {{"mother"}, {"father"},     {"grandmother"}, {"grandfather"}, {"aunt"},
                              {"uncle"},  {"big sister"}, {"big brother"}, {"twin sister"}, {"baby brother"}};

constexpr Entry objects[] = {
    {"kite", coloured | patterned | paper | string | cloth},
    {"balloon", coloured | patterned},
    {"ball", coloured | patterned | leather | wool},
    {"drum", coloured | patterned | wooden | wood | leather},
    {"flute", wooden | shining},
    {"bell", coloured | shining},
    {"lantern", coloured | shining | paper | wire},
    {"toy boat", coloured | wooden | wood | paper | cloth},
    {"scarf", coloured | soft | patterned},
    {"hat", coloured | soft | patterned | straw | wool | cloth},
    {"blanket", coloured | soft | patterned | wool | cloth},
    {"pillow", coloured | soft | patterned | straw | cloth},
    {"cup", coloured | shining | patterned},
    {"spoon", shining | wooden},
    {"crown", coloured | shining | paper | wire},
    {"ring", shining},
    {"book", coloured | paper | leather},
    {"pencil", coloured},
    {"wagon", coloured | wooden | wood | wire},
    {"sled", coloured | wooden | wood | leather},
    {"whistle", coloured | shining | wooden},
    {"trumpet", shining},
    {"umbrella", coloured | patterned},
    {"mirror", coloured | shining},
    {"necklace", coloured | shining | string | clay},
    {"ribbon", coloured | patterned},
    {"puppet", coloured | wooden | wood | string | cloth},
    {"doll", coloured | wooden | straw | wool | cloth},
    {"spinning top", coloured | patterned | wooden},
    {"box", coloured | shining | wooden | wood | leather},
    {"teapot", coloured | shining | patterned},
    {"rocking horse", coloured | wooden | wood | wool},
    {"paintbrush", coloured | wooden},
    {"music box", coloured | shining | wooden},
};

constexpr Entry properties[] = {
    {"red", coloured},      {"blue", coloured},     {"green", coloured},     {"yellow", coloured}, {"white", coloured},
    {"orange", coloured},   {"purple", coloured},   {"pink", coloured},      {"brown", coloured},  {"black", coloured},
    {"golden", shining},    {"silver", shining},    {"shiny", shining},      {"soft", soft},       {"warm", soft},
    {"striped", patterned}, {"spotted", patterned}, {"speckled", patterned}, {"wooden", wooden},   {"carved", wooden},
};

constexpr Entry treasures[] = {
    {"feather", coloured | patterned},
    {"shell", coloured | shining},
    {"pebble", coloured | shining},
    {"flower", coloured},
    {"leaf", coloured},
    {"berry", coloured},
    {"button", coloured | wooden},
    {"coin", shining},
    {"bead", coloured | shining},
    {"egg", coloured | patterned},
    {"rose", coloured},
    {"mushroom", coloured | patterned},
    {"thimble", shining},
    {"candle", coloured},
    {"marble", coloured | shining},
    {"nutcracker", wooden | coloured},
    {"key", shining},
};

constexpr Entry moods[] = {{"sad"},     {"lonely"},    {"gloomy"},  {"unhappy"},
                           {"worried"}, {"miserable"}, {"tearful"}, {"glum"}};

constexpr Entry weathers[] = {
    {"sunny|the sun was shining|the sun still shone", mild},
    {"rainy|the rain was falling|the rain still fell", mild},
    {"windy|the wind was blowing|the wind still blew", season},
    {"snowy|the snow was falling|the snow still fell", frozen},
    {"foggy|the fog was thick|the fog still hung in the air", season},
    {"cloudy|the sky was grey|the sky was still grey", season},
    {"frosty|the roofs were white with frost|the frost still sparkled", frozen},
    {"warm|the air was sweet and mild|the air was still mild", mild},
    {"breezy|a soft breeze was blowing|the breeze still blew", mild},
    {"bright|there was not a cloud in the sky|there was still not a cloud in the sky", season},
};

constexpr Entry times[] = {{"morning", season},        {"afternoon", season}, {"day", season},
                           {"spring morning", mild},   {"summer day", mild},  {"autumn afternoon", mild},
                           {"winter morning", frozen}, {"winter day", frozen}};

constexpr Entry clothes[] = {{"coat", season},  {"boots", season},  {"mittens", frozen},
                             {"cloak", season}, {"jacket", season}, {"gloves", frozen},
                             {"sandals", mild}, {"cap", season},    {"apron", mild}};

constexpr Entry foods[] = {
    {"some bread|the bread"},       {"two apples|the apples"},      {"a honey cake|the honey cake"},
    {"a bag of nuts|the nuts"},     {"some cheese|the cheese"},     {"three plums|the plums"},
    {"a berry pie|the berry pie"},  {"some biscuits|the biscuits"}, {"a jar of jam|the jam"},
    {"four pancakes|the pancakes"},
};

constexpr Entry obstacles[] = {
    {"a deep stream|the stream|a long plank|walked across"},
    {"a high wall|the wall|a ladder|climbed over"},
    {"a thorny hedge|the hedge|a pair of shears|cut through"},
    {"a locked gate|the gate|a rusty old key|went through"},
    {"a fallen tree|the tree|a strong rope|climbed over"},
    {"a wide ditch|the ditch|a broad board|stepped across"},
    {"a muddy field|the field|a pair of stilts|walked across"},
    {"a dark tunnel|the tunnel|a bright lamp|hurried through"},
};

constexpr Entry spots[] = {
    {"under a bush"},         {"behind a big stone"}, {"between two roots"},     {"in the tall grass"},
    {"on a flat rock"},       {"beside a log"},       {"inside a hollow stump"}, {"under a heap of leaves"},
    {"behind an old barrel"}, {"on top of a post"},   {"under an empty crate"},  {"next to a broken wheel"},
};

constexpr Entry bags[] = {{"basket"}, {"bag"}, {"cart"}, {"sack"}, {"hamper"}, {"wheelbarrow"}, {"backpack"}};

constexpr Entry perches[] = {{"in a tall oak|the oak"},      {"in a crooked pine|the pine"},
                             {"on a high roof|the roof"},    {"on a tall pole|the pole"},
                             {"on a rocky ledge|the ledge"}, {"in a big willow|the willow"},
                             {"on a great arch|the arch"}};

constexpr Entry sellers[] = {{"baker"},      {"tailor"},    {"potter"}, {"toymaker"},  {"peddler"},   {"miller"},
                             {"blacksmith"}, {"shoemaker"}, {"weaver"}, {"carpenter"}, {"fisherman"}, {"gardener"}};

constexpr Entry tasks[] = {
    {"sweep the yard|swept the yard"},       {"pick the pears|picked the pears"},
    {"carry the wood|carried the wood"},     {"feed the hens|fed the hens"},
    {"wash the windows|washed the windows"}, {"paint the fence|painted the fence"},
    {"water the beans|watered the beans"},   {"stack the boxes|stacked the boxes"},
    {"milk the cows|milked the cows"},       {"mend the nets|mended the nets"},
    {"knead the dough|kneaded the dough"},   {"brush the horses|brushed the horses"},
};

constexpr Entry numbers[] = {{"three"}, {"four"}, {"five"}, {"six"},   {"seven"},
                             {"eight"}, {"nine"}, {"ten"},  {"twelve"}};

// What is made of them is never golden or silver.
constexpr std::uint32_t plain = coloured | soft | patterned | wooden;
constexpr Entry materials[] = {
    {"paper", plain | paper}, {"string", plain | string}, {"wood", plain | wood},
    {"wool", plain | wool},   {"cloth", plain | cloth},   {"clay", plain | clay},
    {"straw", plain | straw}, {"wire", plain | wire},     {"leather", plain | leather},
};

constexpr Entry joys[] = {{"danced in a circle"},   {"sang a little song"},  {"laughed out loud"},
                          {"jumped for joy"},       {"clapped and cheered"}, {"whistled a happy tune"},
                          {"spun round and round"}, {"hopped up and down"}};

struct ClassRow {
  std::string_view name;
  std::string_view columns;  // divided by |; one that ends in ! does not introduce its word
  std::span<const Entry> entries;
};

constexpr std::array<ClassRow, static_cast<std::size_t>(WordClassId::count)> classes = {{
    {"name", "word|he!|him!|his!", {}},
    {"kind", "word", kinds},
    {"trait", "word", traits},
    {"place", "word|at|detail!", places},
    {"house", "word", houses},
    {"family", "word", families},
    {"object", "word", objects},
    {"property", "word", properties},
    {"treasure", "word", treasures},
    {"mood", "word", moods},
    {"weather", "word|sky|still!", weathers},
    {"time", "word", times},
    {"clothes", "word", clothes},
    {"food", "word|the!", foods},
    {"obstacle", "word|the!|tool!|pass!", obstacles},
    {"spot", "word", spots},
    {"bag", "word", bags},
    {"perch", "word|the!", perches},
    {"seller", "word", sellers},
    {"task", "word|did!", tasks},
    {"number", "word", numbers},
    {"material", "word", materials},
    {"joy", "word", joys},
}};

std::vector<std::string_view> divided(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t bar; (bar = text.find('|')) != std::string_view::npos; text.remove_prefix(bar + 1)) {
    parts.push_back(text.substr(0, bar));
  }
  parts.push_back(text);
  return parts;
}

void add_names(WordClass& names, std::string_view list, std::array<const char*, 3> pronouns, std::uint32_t group) {
  for (const std::string_view name : divided(list)) {
    names.words.push_back({{std::string(name), pronouns[0], pronouns[1], pronouns[2]}, group});
  }
}

}  // namespace

std::vector<WordClass> make_lexicon() {
  std::vector<WordClass> lexicon;
  for (const ClassRow& row : classes) {
    WordClass& made = lexicon.emplace_back(WordClass{row.name, {}, {}});
    for (std::string_view column : divided(row.columns)) {
      const bool introduces = !column.ends_with('!');
      if (!introduces) column.remove_suffix(1);
      made.columns.push_back({column, introduces});
    }
    for (const Entry& entry : row.entries) {
      const std::vector<std::string_view> spellings = divided(entry.spellings);
      made.words.push_back({{spellings.begin(), spellings.end()}, entry.groups});
    }
  }
  WordClass& names = lexicon[static_cast<std::size_t>(WordClassId::name)];
  add_names(names, girls_names, {"she", "her", "her"}, female);
  add_names(names, boys_names, {"he", "him", "his"}, male);
  return lexicon;
}

}  // namespace ingot
