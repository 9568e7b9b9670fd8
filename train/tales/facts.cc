#include "train/tales/facts.h"

namespace ingot {
namespace {

constexpr FactRow fact_table[] = {
    {"hero", WordClassId::name, "the hero"},
    {"trade", WordClassId::trade, "the hero's trade"},
    {"nature", WordClassId::nature, "the hero's nature"},
    {"home", WordClassId::home, "the hero's home"},
    {"house", WordClassId::house, "the hero's house"},
    {"family", WordClassId::family, "the hero's family"},
    {"object", WordClassId::object, "the wanted object"},
    {"look", WordClassId::look, "the object's look"},
    {"mood", WordClassId::mood, "the hero's mood"},
    {"weather", WordClassId::weather, "the weather"},
    {"time", WordClassId::time, "the time"},
    {"clothes", WordClassId::clothes, "the hero's clothes"},
    {"food", WordClassId::food, "the food"},
    {"friend", WordClassId::animal, "the friend"},
    {"manner", WordClassId::manner, "the friend's manner"},
    {"seat", WordClassId::seat, "where the friend was met"},
    {"quest", WordClassId::wild, "the place of the search"},
    {"spot", WordClassId::spot, "the finding place"},
    {"sight", WordClassId::sight, "what is seen there"},
    {"obstacle", WordClassId::obstacle, "the obstacle"},
    {"bag", WordClassId::bag, "what the friend carries things in"},
    {"wish", WordClassId::treasure, "the friend's thing"},
    {"touch", WordClassId::touch, "how the friend's thing feels"},
    {"perch", WordClassId::perch, "where the object is stuck"},
    {"seller", WordClassId::seller, "the seller"},
    {"task", WordClassId::task, "the work"},
    {"number", WordClassId::number, "the price"},
    {"stuff", WordClassId::stuff, "the material"},
    {"fastening", WordClassId::fastening, "what holds the material together"},
    {"joy", WordClassId::joy, "what the hero does for joy"},
    {"here", WordClassId::whereabouts, "the place they are at"},
    {"holder", WordClassId::holder, "who has the object"},
};
static_assert(std::size(fact_table) == fact_count);

}  // namespace

std::span<const FactRow> fact_rows() { return fact_table; }

}  // namespace ingot
