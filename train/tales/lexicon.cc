#include "train/tales/lexicon.h"

#include <array>
#include <span>

namespace ingot {
namespace {

// Words are divided by ;, their spellings by |.
struct ClassRow {
  std::string_view name;
  std::string_view columns;  // divided by |; one that ends in ! does not introduce its word
  std::string_view words;
};

constexpr std::string_view girls_names =
    "Mila;Anna;Lucy;Rosa;Nora;Ella;Ivy;Clara;Daisy;Hazel;Lily;Maya;Penny;Ruby;Sophie;Tess;Willa;Zoe;Emma;Greta;"
    "Alma;Bella;Carla;Dora;Edith;Flora;Gwen;Hanna;Iris;Julia;Kate;Lena;Mabel;Nina;Olga;Paula;Rita;Sonja;Tilda;Vera;"
    "Wanda;Agnes;Berta;Cora;Elsie;Frida;Helga;Ida;Jenny;Lotta";
constexpr std::string_view boys_names =
    "Ben;Tom;Max;Leo;Finn;Oscar;Hugo;Jack;Sam;Theo;Felix;Milo;Noah;Otto;Paul;Rufus;Toby;Walter;Jasper;Emil;Adam;"
    "Basil;Carl;David;Edgar;Fred;Georg;Henry;Ivan;Jonas;Kurt;Lukas;Martin;Nils;Olaf;Peter;Ralf;Simon;Tim;Victor;"
    "Anton;Boris;Conrad;Erik;Frank;Gustav;Hans;Karl;Ludwig;Moritz";

constexpr std::array<ClassRow, static_cast<std::size_t>(WordClassId::count)> classes = {{
    {"name", "word|he!|him!|his!", {}},
    {"trade", "word",
     "tailor;baker;potter;miller;weaver;painter;piper;gardener;shepherd;sailor;farmer;cook;carpenter;drummer;"
     "printer;cobbler;thatcher;spinner;dyer;tinker;cooper;beekeeper;woodcutter;goatherd;fiddler;lamplighter;"
     "bookbinder;clockmaker;blacksmith;glassblower;gamekeeper;innkeeper"},
    {"nature", "word",
     "careful;hopeful;daring;dreamy;restless;penniless;freckled;skilful;modest;thoughtful;stubborn;graceful;"
     "barefoot;tidy;forgetful;homesick;talented;ambitious;obedient;slender;sturdy;famous;wealthy;thirsty;frugal;"
     "generous;impatient;musical;strict;trusty;witty;dutiful"},
    {"home", "word",
     "the old mill;the village;the farm;the harbour;the lighthouse;the castle;the stone bridge;the orchard;"
     "the station;the school;the chapel;the bakery;the market;the inn;the ferry;the city wall;the brewery;"
     "the vineyard;the toll gate;the windmill;the palace;the library;the fountain;the dairy;the sawmill;"
     "the town hall;the shipyard;the fish pier;the quarry;the stables;the monastery;the theatre"},
    {"house", "word",
     "small house;round hut;cosy cabin;tiny cottage;crooked house;narrow house;straw hut;brick house;log cabin;"
     "draughty attic;bright room;warm cellar;leaky tent;timber lodge;sunny loft;damp basement;spacious barn;"
     "noisy flat;tower room;rented chamber;white villa;clay hut;floating houseboat;ruined mansion"},
    {"family", "word",
     "mother;father;grandmother;grandfather;aunt;uncle;sister;brother;cousin;godmother;stepfather;nephew;niece;"
     "stepmother;godfather;parents;daughter;son;children;twins"},
    {"object", "word",
     "kite;balloon;ball;drum;flute;bell;lantern;toy boat;scarf;hat;blanket;pillow;cup;spoon;crown;ring;book;pencil;"
     "wagon;sled;whistle;trumpet;umbrella;mirror;necklace;ribbon;puppet;doll;spinning top;box;teapot;rocking horse;"
     "paintbrush;music box;chair;clock;vase;violin;harp;hammock;telescope;compass;kettle;carpet;curtain;quilt;"
     "marionette;tambourine;wheel;barrel;ladder;bracelet;purse;slipper;bonnet;helmet;shield;banner;chest;bowl"},
    {"look", "word",
     "red;blue;green;yellow;white;orange;purple;pink;brown;black;grey;golden;silver;copper;shiny;striped;spotted;"
     "speckled;painted;tiny;huge;checkered;crimson;scarlet;turquoise;violet;lilac;emerald;amber;ivory;pale;gleaming;"
     "glittering;dusty;pretty;plain;splendid;dainty;handsome;patched"},
    {"mood", "word", "sad;gloomy;unhappy;worried;miserable;tearful;glum;weary;cross;downcast;troubled;wistful"},
    {"weather", "word|sky",
     "sunny|the sun was shining;rainy|the rain was falling;windy|the wind was blowing;snowy|snow was falling;"
     "foggy|the fog was thick;cloudy|clouds hid the sun;frosty|the roofs were white;mild|the air was sweet;"
     "stormy|thunder rolled;misty|mist filled the lanes;chilly|everyone was cold;clear|the sky was clear"},
    {"time", "word", "morning;afternoon;evening;day;Monday;Tuesday;Wednesday;Thursday;Friday;Saturday;Sunday;holiday"},
    {"clothes", "word",
     "coat;boots;mittens;cloak;jacket;gloves;sandals;cap;apron;shawl;waistcoat;stockings;overalls;raincoat"},
    {"food", "word",
     "some bread;two apples;a honey cake;some nuts;some cheese;ripe plums;a berry pie;some biscuits;sweet jam;"
     "crisp pancakes;cold soup;boiled eggs;salted fish;a melon"},
    {"animal", "word",
     "fox;rabbit;bear;mouse;squirrel;badger;otter;hedgehog;kitten;puppy;lamb;goat;pony;frog;mole;beaver;deer;"
     "duckling;owl;crow;swan;goose;hen;heron;robin;sparrow;turtle;toad;snail;lizard;seal;wolf;lynx;hare;weasel;"
     "donkey;pig;calf;stork;moose"},
    {"manner", "word",
     "sleepy;shy;old;young;clever;gentle;merry;quiet;patient;lively;friendly;proud;hungry;lonely;grumpy;cheerful;"
     "curious;brave;kind;tired;playful;wise;nervous;polite;silly;busy;jolly;timid;plump;fluffy;nimble;bashful"},
    {"seat", "word",
     "under an elm;on a fence;beside a well;at a crossroads;behind a haystack;by a signpost;on a doorstep;"
     "under a lamp;beside a puddle;on a tree stump;near a beehive;by a garden gate;in a doorway;on a milestone;"
     "by a rosebush;near a barn"},
    {"wild", "word",
     "the dark forest;the river;the lake;the meadow;the sea;the waterfall;the valley;the pond;the beach;the cave;"
     "the marsh;the mountain;the rose garden;the crooked tower;the island;the ruins;the canyon;the glacier;"
     "the desert;the jungle;the volcano;the swamp;the cliffs;the dunes;the heath;the hot spring;the maze;"
     "the graveyard;the bamboo grove;the coral reef;the hilltop;the hollow"},
    {"spot", "word",
     "under a bush;behind a big stone;between two roots;in the tall weeds;on a flat rock;beside a log;"
     "inside a hollow trunk;under dry leaves;behind an old barrow;on a fence post;under an empty crate;"
     "next to a broken cart;in a rabbit hole;below a bench;on a mossy ledge;inside a rusty pot;under a plank;"
     "behind a woodpile;in a bird's nest;among some nettles;in a shallow ditch;under a bucket;beside an anthill;"
     "in a pile of hay"},
    {"sight", "word",
     "The wind sighed.;A twig snapped.;A cuckoo called.;Leaves rustled.;Clouds sailed past.;Thistles grew there.;"
     "It smelled of rain.;Something splashed.;A bee hummed.;The light was fading.;Nobody else was there.;"
     "Pebbles crunched."},
    {"obstacle", "word|tool!",
     "a deep stream|a long pole;a high wall|a rope;a thorny hedge|sharp shears;a locked door|an iron key;"
     "a fallen tree|an axe;a wide gap|a strong board;a muddy field|wooden stilts;a dark tunnel|a torch;"
     "a swarm of wasps|a smoking pipe;a steep slope|a walking stick;a huge puddle|a raft;a snowdrift|a shovel"},
    {"bag", "word", "basket;satchel;wheelbarrow;sack;hamper;backpack;suitcase;trunk;crib;pouch"},
    {"treasure", "word",
     "feather;shell;pebble;flower;leaf;berry;button;coin;bead;egg;rose;mushroom;thimble;candle;marble;nutcracker;"
     "brooch;pearl;acorn;chestnut;pine cone;seed;cork;horseshoe;fishhook;arrow;medal;stamp;tooth;nail"},
    {"touch", "word",
     "smooth;round;hollow;heavy;flat;crinkled;bent;warm;cold;wet;dry;soft;hard;sharp;sticky;slippery;rough;thin;"
     "thick;long;short;twisted;pointed;frozen"},
    {"perch", "word|the!",
     "in a tall oak|the oak;in a crooked pine|the pine;on a high roof|the roof;on a flagpole|the flagpole;"
     "on a rocky ledge|the ledge;in a big willow|the willow;on a stone arch|the arch;on a chimney|the chimney;"
     "in a palm tree|the palm tree;on a balcony|the balcony;on a church spire|the spire;in a birch|the birch;"
     "on a windowsill|the windowsill;on a statue|the statue"},
    {"seller", "word", "peddler;merchant;shopkeeper;trader;juggler;wizard;captain;queen;duke;monk;soldier;witch"},
    {"task", "word|did!",
     "sweep the yard|swept the yard;pick the pears|picked the pears;carry the logs|carried the logs;"
     "feed the geese|fed the geese;wash the windows|washed the windows;paint the shed|painted the shed;"
     "water the beans|watered the beans;stack the boxes|stacked the boxes;milk the cows|milked the cows;"
     "mend the nets|mended the nets;knead the dough|kneaded the dough;brush the horses|brushed the horses;"
     "dig the ditch|dug the ditch;peel the turnips|peeled the turnips;shear the sheep|sheared the sheep;"
     "polish the pans|polished the pans;chop the onions|chopped the onions;sort the buttons|sorted the buttons;"
     "rake the leaves|raked the leaves;scrub the stairs|scrubbed the stairs;oil the hinges|oiled the hinges;"
     "count the sacks|counted the sacks;plant the tulips|planted the tulips;tar the boat|tarred the boat"},
    {"number", "word", "three;four;five;six;seven;eight;nine;ten;eleven;twelve;twenty;thirty;forty;fifty;sixty;ninety"},
    {"stuff", "word", "paper;wood;wool;cloth;clay;straw;leather;felt;silk;velvet;bark;wicker;linen;cardboard"},
    {"fastening", "word", "string;wire;glue;nails;thread;wax;pins;staples;rope;tape;resin;screws"},
    {"joy", "word",
     "danced in a circle;sang a little song;laughed out loud;jumped for joy;clapped and cheered;"
     "whistled a happy tune;spun round and round;hopped up and down;smiled from ear to ear;threw both arms up;"
     "turned three somersaults;hummed an old waltz;shouted with delight;skipped down the road;"
     "nearly burst with pride;blushed with pleasure"},
    {"whereabouts", "word", "home;quest"},
    {"holder", "word", "hero;friend"},
}};

std::vector<std::string_view> divided(std::string_view text, char divider) {
  std::vector<std::string_view> parts;
  for (std::size_t end; (end = text.find(divider)) != std::string_view::npos; text.remove_prefix(end + 1)) {
    parts.push_back(text.substr(0, end));
  }
  parts.push_back(text);
  return parts;
}

void add_names(WordClass& names, std::string_view list, std::array<const char*, 3> pronouns) {
  for (const std::string_view name : divided(list, ';')) {
    names.words.push_back({{std::string(name), pronouns[0], pronouns[1], pronouns[2]}});
  }
}

}  // namespace

std::vector<WordClass> make_lexicon() {
  std::vector<WordClass> lexicon;
  for (const ClassRow& row : classes) {
    WordClass& made = lexicon.emplace_back(WordClass{row.name, {}, {}});
    for (std::string_view column : divided(row.columns, '|')) {
      const bool introduces = !column.ends_with('!');
      if (!introduces) column.remove_suffix(1);
      made.columns.push_back({column, introduces});
    }
    if (row.words.empty()) continue;
    for (const std::string_view word : divided(row.words, ';')) {
      const std::vector<std::string_view> spellings = divided(word, '|');
      made.words.push_back({{spellings.begin(), spellings.end()}});
    }
  }
  WordClass& names = lexicon[static_cast<std::size_t>(WordClassId::name)];
  add_names(names, girls_names, {"she", "her", "her"});
  add_names(names, boys_names, {"he", "him", "his"});
  return lexicon;
}

}  // namespace ingot
