"""A hundred fruits, common ones first. The list is ours: the paper's is not known."""

from __future__ import annotations

__all__ = ["FRUITS"]

FRUITS: tuple[str, ...] = (
    "apple", "banana", "orange", "lemon", "lime", "pear", "peach", "plum", "strawberry", "cherry",
    "kiwi", "mango", "pineapple", "grape", "watermelon", "apricot", "fig", "pomegranate", "papaya", "grapefruit",
    "mandarin", "nectarine", "blueberry", "raspberry", "blackberry", "coconut", "melon", "lychee", "passion fruit",
    "dragon fruit", "persimmon", "quince", "guava", "date", "cranberry", "redcurrant", "blackcurrant", "gooseberry",
    "mulberry", "elderberry", "kumquat", "tangerine", "clementine", "pomelo", "blood orange", "star fruit",
    "jackfruit", "durian", "rambutan", "mangosteen", "longan", "tamarind", "avocado", "olive", "plantain",
    "breadfruit", "custard apple", "soursop", "cherimoya", "sapodilla", "loquat", "medlar", "damson", "greengage",
    "mirabelle", "sloe", "rowan berry", "hawthorn berry", "rose hip", "sea buckthorn berry", "cloudberry",
    "lingonberry", "bilberry", "boysenberry", "loganberry", "tayberry", "dewberry", "salmonberry", "huckleberry",
    "saskatoon berry", "honeyberry", "goji berry", "acai berry", "acerola", "jabuticaba", "feijoa", "pepino",
    "tamarillo", "physalis", "horned melon", "cactus pear", "ugli fruit", "yuzu", "calamansi", "bergamot", "citron",
    "finger lime", "crab apple", "salak", "santol",
)  # fmt: skip
"""Different names, each one step of `add_fruits`."""
