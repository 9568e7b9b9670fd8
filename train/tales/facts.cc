#include "train/tales/facts.h"

namespace ingot {
namespace {

constexpr FactRow fact_table[] = {
    {"hero", WordClassId::name, "the hero"},
    {"kind", WordClassId::kind, "what the hero is"},
    {"trait", WordClassId::trait, "the hero's nature"},
    {"home", WordClassId::place, "the hero's home"},
    {"house", WordClassId::house, "the hero's house"},
    {"family", WordClassId::family, "the hero's family"},
    {"object", WordClassId::object, "the wanted object"},
    {"property", WordClassId::property, "the object's look"},
    {"mood", WordClassId::mood, "the hero's mood"},
    {"weather", WordClassId::weather, "the weather"},
    {"time", WordClassId::time, "the time"},
    {"clothes", WordClassId::clothes, "the hero's clothes"},
    {"food", WordClassId::food, "the food"},
    {"friend", WordClassId::name, "the friend"},
    {"friend_kind", WordClassId::kind, "what the friend is"},
    {"friend_mood", WordClassId::mood, "the friend's mood"},
    {"quest", WordClassId::place, "the place of the search"},
    {"spot", WordClassId::spot, "the finding place"},
    {"obstacle", WordClassId::obstacle, "the obstacle"},
    {"bag", WordClassId::bag, "what the friend carries things in"},
    {"wish", WordClassId::treasure, "the friend's thing"},
    {"wish_property", WordClassId::property, "the look of the friend's thing"},
    {"perch", WordClassId::perch, "where the object is stuck"},
    {"seller", WordClassId::seller, "the seller"},
    {"task", WordClassId::task, "the work"},
    {"number", WordClassId::number, "the price"},
    {"material", WordClassId::material, "the material"},
    {"second_material", WordClassId::material, "the second material"},
    {"joy", WordClassId::joy, "what the hero does for joy"},
    {"here", WordClassId::place, "the place they are at"},
    {"holder", WordClassId::name, "who has the object"},
};
static_assert(std::size(fact_table) == fact_count);

constexpr FactLink link_table[] = {
    {Fact::hero, Fact::kind, word_group::gender},
    {Fact::friend_name, Fact::friend_kind, word_group::gender},
    {Fact::hero, Fact::friend_name, 0},
    {Fact::home, Fact::quest, 0},
    {Fact::object, Fact::property, word_group::property},
    {Fact::wish, Fact::wish_property, word_group::property},
    {Fact::weather, Fact::time, word_group::season},
    {Fact::weather, Fact::clothes, word_group::season},
    {Fact::time, Fact::clothes, word_group::season},
    {Fact::material, Fact::object, word_group::material},
    {Fact::second_material, Fact::object, word_group::material},
    {Fact::material, Fact::property, word_group::property},
    {Fact::second_material, Fact::property, word_group::property},
    {Fact::material, Fact::second_material, 0},
};

}  // namespace

std::span<const FactRow> fact_rows() { return fact_table; }
std::span<const FactLink> fact_links() { return link_table; }

}  // namespace ingot
