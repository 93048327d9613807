"""Sums over the blocks of a table in a fixed order, so that their bits do not depend on who makes them.

Replies of blocks are the leaves of a binary tree: neighbours are added in pairs, the sums in pairs again, and so on; a
last one without a neighbour goes up as it is. Whoever has some consecutive blocks adds up what branches he can.
"""

from __future__ import annotations

from collections.abc import Callable

from sklearn_subanneal.shards.packed_reply import PackedReply, pack

# A branch: its height above the blocks, and its number from the left.
Branch = tuple[int, int]


def plus(a, b):
    """The sum of two replies."""
    return a + b


def branches(replies: list, first: int = 0, combine: Callable = plus, is_last: bool = False) -> dict[Branch, object]:
    """Add up replies of consecutive blocks as far as their branches are complete.

    Parameters
    ----------
    replies : list
    first : int, default=0
        Number of the first block.
    combine : callable, default=plus
        Makes one reply of those of two neighbours.
    is_last : bool, default=False
        Whether no blocks follow.

    Examples
    --------
    >>> branches([4, 2, 3, 5, 1], first=3, combine=min)
    {(0, 3): 4, (2, 1): 1}
    >>> branches([7], first=8, combine=min, is_last=True)
    {(3, 1): 7}
    """
    if combine is plus and replies and not isinstance(replies[0], PackedReply):
        like = pack(replies[0])
        replies = [like, *(pack(reply, like) for reply in replies[1:])]
    found: dict[Branch, object] = {}
    level, height = {first + i: reply for i, reply in enumerate(replies)}, 0
    while level:
        above = {}
        last = max(level)
        for i, reply in level.items():
            if i % 2 == 0 and i + 1 in level:
                above[i // 2] = combine(reply, level[i + 1])
            elif i % 2 == 0 and i == last and is_last and i > 0:
                above[i // 2] = reply
            elif i % 2 == 0 or i - 1 not in level:
                found[height, i] = reply
        level, height = above, height + 1
    return found


def total(found: dict[Branch, object], combine: Callable = plus):
    """The reply of the whole table, from branches that cover it.

    Examples
    --------
    >>> total(branches([1, 1, 1]) | branches([1, 1, 1, 1, 1], first=3))
    8
    """
    left = dict(found)
    for height in range(64):
        level = sorted(i for tall, i in left if tall == height)
        if level == [0] and len(left) == 1:
            whole = left[height, 0]
            return whole.unpacked() if isinstance(whole, PackedReply) else whole
        for i in level:
            if i % 2 == 0:
                reply = left.pop((height, i))
                other = left.pop((height, i + 1), None)
                left[height + 1, i // 2] = reply if other is None else combine(reply, other)
    raise ValueError(f"found must be the branches of one tree, got {sorted(found)}")
