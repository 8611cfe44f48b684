"""Mutants that change nothing anybody could see, each with why. They are left out of the share.

A mutant is named by file, function, what stands there and what would; one that no longer exists fails a test.
"""

from typing import Final

_TYPES: Final = "it never is None there; the part is for the types"
_TYPE: Final = "no code asks for a type that a container was made with"
_ORDER: Final = "a mapping's order is nobody's business; sorted, so that what is written is the same in every run"
_LEFT: Final = "what must remain is kept by name; in which order it is named is nobody's business"
_UNIT: Final = "in which parts of a vCPU amounts are counted; they are divided by it again"
_AS_MANY: Final = "there always are as many of both; strict shows a fault of ours"
_DUST: Final = "some micro-dollars an hour, which count for nothing"
_KEY: Final = "a key, made alike wherever it is used"
_DICE: Final = "one throw of the dice is as good as another"
_PRICES_ALONE: Final = "while nothing is committed, only prices are read"
# fmt: off
_BY_FILE: Final[dict[str, tuple[tuple[str, str, str, str], ...]]] = {
    "functions/cli/analysis/simulated_days/autoscaler.py": (
        ("ScaleDown._may_be_unneeded", "if known is None or known[0] != seen", "if True",
         "measured again it is as full as it was"),
        ("ScaleDown._evict", "world.now < until", "world.now <= until", "rounds come a second after each tenth"),
        ("ScalingLoop.watch", "turn < self._next", "turn <= self._next", "a look that is noted twice is taken once"),
    ),
    "shared/core/placement/cluster_arrays.py": (
        ("ClusterArrays._free", "for place, pod in enumerate(bound) if pod.booked is not None",
         "for place, pod in enumerate(bound)",
         "a pod without a booking of its own asks for what its class asks for, only looked up pod by pod"),
    ),
    "shared/core/placement/cluster_packings.py": (
        ("_balance", "zip(free, sizes, strict=True)", "zip(free, sizes)", _AS_MANY),
    ),
    "shared/core/placement/demand.py": (
        ("nodes_to_return", "if not pods", "if False",
         "saves the arrays; without waiting pods nothing comes out of them either"),
    ),
    "shared/core/placement/node_filters.py": (
        ("NodeFilters.label", "if key not in self._labels", "if True",
         "a column that is made again is the same column"),
    ),
    "shared/core/placement/node_room.py": (
        ("FitCache.of", "mask is None or late > CATCH_UP", "mask is None",
         "a mask that catches up is the mask made anew, only later"),
    ),
    "shared/core/placement/packing.py": (
        ("Packing.undo", "if removal.relocated", "if True", "a node that took no pods has none either way"),
    ),
    "shared/core/placement/strategies.py": (
        ("", "1", "2", "a seed is as good as another"),
        ("", "2", "3", "a seed is as good as another"),
        ("", "2", "1", "a seed is as good as another"),
    ),
    "shared/core/planning/autoscaler.py": (
        ("is_eligible", "if len(counted) == len(pods)", "if False", "saves the sums that are known of all pods"),
    ),
    "shared/core/planning/autoscaler_look.py": (
        ("nodes_unneeded", "0", "1", _DICE),
        ("nodes_unneeded", "0", "-1", _DICE),
        ("nodes_unneeded", "…ce=place), most=len(rows), arrays_of=arrays_of)…", "…ce=place), most=len(rows))…",
         "arrays that are made anew are the same arrays"),
        ("_Look._hints_of", "(int, list[int])", "(list[int],)", _TYPE),
        ("_Look._hints_of", "(int, list[int])", "(int,)", _TYPE),
        ("_Look._note_homes", "0", "-1", "one pod of a class is as good as another"),
        ("_Look.result", "(self.moves_pods(name), self.found[name])", "(self.found[name],)",
         "empty nodes are asked before the others, and so they are found before"),
        ("_Sizes._keys", "(node.pool, node.zone)", "(node.zone, node.pool)", _KEY),
        ("drain_nodes", "if not names", "if False", "saves the simulation; without nodes nothing comes of it"),
        ("drain_nodes", "if not simulation.taken", "if False", "without drains the snapshot afterwards is the same"),
        ("saves_as_much", "0", "1", _DICE),
        ("saves_as_much", "0", "-1", _DICE),
        ("_Look._pods_of", "if name not in self._pods", "if True", "found again they are the same pods"),
    ),
    "shared/core/planning/bill.py": (
        ("", "1000", "1001", _UNIT),
        ("", "1000", "999", _UNIT),
        ("Bill.amounts", "if kind not in self._known", "if True", "worked out again they are the same amounts"),
        ("Bill._amounts", "zip(parts, self._rates(family), strict=True)", "zip(parts, self._rates(family))", _AS_MANY),
        ("Bill._amounts", "True", "False", _AS_MANY),
        ("Bill._amounts", "0", "1", _DUST),
        ("Bill._amounts", "0", "-1", _DUST),
        ("Bill._axes", "0", "1", _DUST),
        ("Bill._axes", "0", "-1", _DUST),
        ("Bill._flexible", "0", "1", _DUST),
        ("Bill._flexible", "0", "-1", _DUST),
        ("Bill.covered", "0", "-1", _DUST),
        ("Bill.amounts", "NO_AMOUNTS", "()", "it is that"),
        ("Bill._families", "sorted({family.family for family in self.commitments.families})",
         "sorted({family.family for family in self.commitments.families}, reverse=True)", _ORDER),
        ("Bill._axes", "True", "False", _AS_MANY),
        ("Bill._families", "sorted({family.family for family in self.commitments.families})",
         "tuple({family.family for family in self.commitments.families})", _ORDER),
        ("Savings.saving_of", "if self.bill.is_list", "if False", _PRICES_ALONE),
        ("Savings.among", "if bills[now].is_list", "if False", _PRICES_ALONE),
        ("Savings.without", "self.bill.is_list or not rows", "not rows", _PRICES_ALONE),
        ("Savings.without", "if self.bill.is_list or not rows", "if False", _PRICES_ALONE),
        ("Savings.without", "self.bill.is_list or not rows", "self.bill.is_list and (not rows)", _PRICES_ALONE),
        ("Bill.total", "zip(sums, *map(self.amounts, nodes), strict=True)", "zip(sums, *map(self.amounts, nodes))",
         _AS_MANY),
    ),
    "shared/core/planning/candidates.py": (
        ("update_marks", "sorted(could_go.items())", "tuple(could_go.items())", _ORDER),
        ("update_marks", "sorted(rows.items())", "tuple(rows.items())", _ORDER),
        ("assess_node", "held is not None or found", "held is not None",
         "saves the estimate; nobody asks for that of a node which is no candidate"),
        ("saves_too_little", "if not least", "if False", "no node saves less than nothing"),
        ("update_marks", "sorted(rows.items())", "sorted(rows.items(), reverse=True)", _ORDER),
    ),
    "shared/core/planning/make_plan.py": (
        ("_orders", "if not selection.taken", "if False", "saves the simulation; what is not taken has no order"),
    ),
    "shared/core/planning/prices.py": (
        ("Prices.of", "(node.machine, node.spot, node.region, extras)",
         "(node.machine, node.region, node.spot, extras)", _KEY),
        ("Prices.of", "(node.machine, node.spot, node.region, extras)",
         "(node.machine, node.spot, extras, node.region)", _KEY),
        ("Prices.of", "if kind not in self._known", "if True", "worked out again it is the same price"),
    ),
    "shared/core/planning/selection.py": (
        ("Selection.__init__", "(0, 0)", "(0,)", "worked out again they are the same savings"),
        ("Selection.__init__", "0", "1", "worked out again they are the same savings"),
        ("RemovalOrder.__call__", "if assessed.usage", "if True", _TYPES),
        ("RemovalOrder.__call__", "0", "-1", _TYPES),
        ("savings_of", "if not commitments", "if False", _PRICES_ALONE),
        ("", "2", "3", "of the ranks of reasons only the order counts"),
        ("Selection._hold_softly", "if self.taken", "if True", "saves the simulation; what is not taken moves no pod"),
        ("Selection._ask_or_keep", "if found", "if True", "of a node that was taken nobody asks what keeps it"),
        ("Selection._ask_or_keep", "any((blocker.reason in _LATER for blocker in found))",
         "all((blocker.reason in _LATER for blocker in found))",
         "a rule returns gates alone, or one reason that is none"),
    ),
    "shared/core/planning/steady_state.py": (
        ("kept_by_the_autoscaler", "(CPU, MEMORY)", "(MEMORY, CPU)", _LEFT),
        ("_measures", "(CPU, MEMORY)", "(MEMORY, CPU)", _LEFT),
    ),
    "shared/core/planning/steering.py": (
        ("_read", "0", "1", "neither is a cost of ours"),
        ("costs_of", "zip(ordered, _fill_costs(kept, len(ordered)), strict=True)",
         "zip(ordered, _fill_costs(kept, len(ordered)))", _AS_MANY),
        ("next_nodes", "if not steered", "if False", "saves the search; of pools that do not steer no node comes next"),
        ("steering", "if not ours and (not plan.next_nodes)", "if False", "saves the look; nothing comes of it"),
        ("costs_of", "True", "False", _AS_MANY),
    ),
    "shared/core/policy/schedule.py": (
        ("_end_of_gap", "local.replace(tzinfo=zone, fold=0)", "local.replace(tzinfo=zone)",
         "a schedule's local time has fold 0 already; written beside its twin with fold 1"),
        ("_latest_local", "local.replace(fold=fold).utcoffset() or timedelta()", "local.replace(fold=fold).utcoffset()",
         _TYPES),
        ("hits", "after.astimezone(zone).replace(tzinfo=None, fold=0)", "after.astimezone(zone).replace(tzinfo=None)",
         "without a zone nothing reads fold"),
    ),
    "shared/core/records/claims.py": (
        ("settle", "claim is None or why is None or why.row.after is After.NOTHING",
         "claim is None or why.row.after is After.NOTHING",
         "a claim without a reason has returned before; the part is for the types"),
        ("longest_rate", "0", "1", "what no rate counts may be remembered or not"),
        ("longest_rate", "0", "-1", "what no rate counts may be remembered or not"),
    ),
    "shared/core/rules/counts.py": (
        ("count_nodes", "sorted(by_pool.items())", "tuple(by_pool.items())", _ORDER),
    ),
}
# fmt: on
EQUIVALENT: Final = {(file, *mutant): why for file, rows in _BY_FILE.items() for *mutant, why in rows}
