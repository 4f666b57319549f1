"""FLOPs, records and the table: what needs neither a peer nor numpy. `python3 -m unittest bench.tests.test_record`."""

from __future__ import annotations

import unittest

from bench.__main__ import wanted
from bench.contest import NARROW, NARROW_WORKLOADS, peers_of, precision_of, two_best
from bench.environment import NEEDED, groups
from bench.record import Machine, Narrow, Record, Times, duration, losses, make_record, table
from bench.shapes import BY_ID, MIXED, WORKLOADS, Encoder, Workload

FIELDS = {"workload": str, "precision": str, "threads": int, "burin_us": float, "peers": dict, "best_peer": str, "ratio": float,
          "ratio_c": float, "percent_of_fma_peak": float, "max_abs_error": float}


def record(workload: str = "W1.fwd", own: float = 2.0, threads: int = 1, **peers: float) -> Record:
    times = {name: Times(value, 2 * value) for name, value in peers.items()}
    return make_record(BY_ID[workload], threads, Times(own, own), times, 1e-7, Machine(100.0, 20.0), Times(1.0, 1.5),
                       {"iree": Times(3.0, 4.0)})


def narrow_record(own_float32: Times | None = Times(9.0, 9.0), **peers: float) -> Record:
    times = {name: Times(value, value) for name, value in peers.items()}
    narrow = Narrow("int8", own_float32, 0.9991, {name: 0.99 for name in peers})
    return make_record(BY_ID["W3.T8"], 1, Times(3.0, 3.0), times, 1e-3, Machine(100.0, 20.0), None, {}, narrow)


class Flops(unittest.TestCase):
    def test_a_forward_counts_contracts_and_full_attention(self) -> None:
        embed, head, block = 2 * 5 * 4 * 8, 2 * 1 * 8 * 3, 2 * 5 * (4 * 8 * 8 + 2 * 8 * 16)
        self.assertEqual(BY_ID["W1.fwd"].flops, embed + block + head + 4 * 8 * 5 * 5)

    def test_a_step_counts_one_row_that_sees_all(self) -> None:
        embed, head, block = 2 * 4 * 8, 2 * 8 * 3, 2 * (4 * 8 * 8 + 2 * 8 * 16)
        self.assertEqual(BY_ID["W1.step"].flops, embed + block + head + 4 * 8 * 16)

    def test_the_steps_of_a_causal_sequence_add_up_to_its_forward(self) -> None:
        encoder = Encoder(d_model=16, heads=2, d_ff=32, depth=3, causal=True)
        steps = sum(Workload("", "", encoder, "step", (rows,)).flops for rows in range(1, 10))
        self.assertEqual(steps, Workload("", "", encoder, "forward", (9,)).flops)

    def test_a_batch_is_the_sum_of_its_texts(self) -> None:
        encoder = BY_ID["W5"].encoder
        alone = sum(Workload("", "", encoder, "forward", (length,)).flops for length in MIXED)
        self.assertEqual(BY_ID["W5"].flops, alone)

    def test_weights_are_read_once(self) -> None:
        self.assertEqual(BY_ID["W3.T8"].encoder.weight_bytes(), 4 * 6 * (4 * 384 * 384 + 2 * 384 * 1536))


class Records(unittest.TestCase):
    def test_fields_have_their_types(self) -> None:
        made = record(openvino=4.0)
        for name, kind in FIELDS.items():
            self.assertIsInstance(made[name], kind, name)

    def test_ratios_are_the_best_peer_over_burin(self) -> None:
        made = record(own=2.0, openvino=5.0, iree=4.0)
        self.assertEqual((made["best_peer"], made["ratio"], made["ratio_c"]), ("iree", 2.0, 3.0))

    def test_without_peers_there_is_no_ratio(self) -> None:
        made = record()
        self.assertIsNone(made["best_peer"])
        self.assertIsNone(made["ratio"])
        self.assertIn("-", table([made]))

    def test_percent_of_peak_is_of_the_minimum(self) -> None:
        made = record(own=BY_ID["W1.fwd"].flops / 50e3)  # 50 GFLOP/s
        self.assertAlmostEqual(made["percent_of_fma_peak"], 50)

    def test_a_faster_peer_is_named(self) -> None:
        self.assertEqual(losses([record(own=2.0, openvino=4.0)]), [])
        lines = losses([record(own=2.0, threads=2, openvino=1.5)])
        self.assertEqual(lines, ["W1.fwd, 2 threads: openvino takes 1.5 µs, Burin 2 µs"])

    def test_the_table_has_a_line_a_record(self) -> None:
        lines = table([record(openvino=4.0), record("W5", openvino=4.0)]).splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["workload", "W1.fwd", "W5"])

    def test_in_another_precision_there_is_our_float32_and_every_cosine(self) -> None:
        made = narrow_record(openvino=6.0, ctranslate2=5.0)
        self.assertEqual((made["precision"], made["ratio"], made["ratio_to_float32"], made["cosine"]),
                         ("int8", 5.0 / 3.0, 3.0, 0.9991))
        self.assertEqual(made["peer_cosines"], {"openvino": 0.99, "ctranslate2": 0.99})
        self.assertEqual(made["weight_bytes"], BY_ID["W3.T8"].encoder.weight_bytes() // 4)

    def test_the_table_of_another_precision_has_cosines(self) -> None:
        lines = table([narrow_record(openvino=6.0)]).splitlines()
        self.assertIn("cosine", lines[0])
        self.assertIn("0.99910", lines[1])
        self.assertEqual(table([narrow_record(own_float32=None)]).splitlines()[1].count("0.99910"), 1)

    def test_durations_have_three_digits_and_a_unit(self) -> None:
        self.assertEqual([duration(us) for us in (0.412, 5.34, 44734, 2.5e6, None)],
                         ["412 ns", "5.34 µs", "44.7 ms", "2.5 s", "-"])


class Contest(unittest.TestCase):
    def test_quick_takes_the_two_best_of_the_full_run(self) -> None:
        full = [record(jax=3.0, openvino=1.0, iree=2.0)]
        self.assertEqual(two_best(BY_ID["W1.fwd"], 1, full, {"jax", "openvino", "iree"}), ["openvino", "iree"])

    def test_a_peer_that_is_not_installed_is_replaced_by_the_next(self) -> None:
        for workload in WORKLOADS:
            chosen = two_best(workload, 1, [], {"jax", "openvino"})
            self.assertEqual(len(chosen), 2, workload.id)
            self.assertLessEqual(set(chosen), set(peers_of(workload)))

    def test_a_form_may_begin_with_a_precision(self) -> None:
        for form, parts in {"": ("float32", ""), "fused-by4": ("float32", "fused-by4"), "int8": ("int8", ""),
                            "int8-static-by4": ("int8", "static-by4"), "bf16-one": ("bf16", "one"),
                            "bf16-dot": ("bf16-dot", ""), "int8x": ("float32", "int8x")}.items():
            self.assertEqual(precision_of(form), parts, form)

    def test_peers_in_another_precision_say_so_and_have_a_group(self) -> None:
        for precision in NARROW:
            for workload in map(BY_ID.get, NARROW_WORKLOADS):
                for name in peers_of(workload, precision):
                    engine, _, form = name.partition(":")
                    self.assertIn(engine, groups())
                    self.assertEqual(precision_of(form)[0], precision.removesuffix("-dot"), name)
                    self.assertEqual(form.endswith(("-one", "-by4", "-by16")), workload.mode == "batch", name)

    def test_a_run_in_another_precision_installs_its_own_peers_only(self) -> None:
        self.assertEqual(wanted(["--build", "build", "--quick"]), set(groups()))
        self.assertEqual(wanted(["--precision", "float32"]), set(groups()))
        self.assertEqual(wanted(["--build", "build", "--precision", "bf16"]), {NEEDED, "openvino"})

    def test_every_pin_is_exact_and_every_engine_has_a_group(self) -> None:
        pins = groups()
        self.assertTrue(all("==" in pin for group in pins.values() for pin in group))
        engines = {name.partition(":")[0] for workload in WORKLOADS for name in peers_of(workload)}
        self.assertEqual(engines, set(pins) - {NEEDED})


if __name__ == "__main__":
    unittest.main()
