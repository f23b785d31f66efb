"""The exercises of the lesson *Training the transformer*: probes, references and known mistakes.

None needs PyTorch. What a model or a trainer would do is a function that comes in with the question; it counts its
calls and refuses to go on for ever, so that a loop without an end is told about and not waited for.
"""

import numpy as np

from course_lib.checks.engine import Exercise, Mistake, Probe

PAD, BEGIN, END = 0, 1, 2

# --- 1. exact_match -------------------------------------------------------------------------------------------------


def exact_match(predictions, targets, end_id, pad_id):
    """Return the share of rows that are right to the last token; what stands after the end token is not looked at."""
    right = 0
    for predicted, wanted in zip(predictions.tolist(), targets.tolist(), strict=True):
        wanted = wanted[: wanted.index(end_id) + 1]
        right += predicted[: len(wanted)] == wanted
    return right / len(targets)


def _match_probes(rng):
    def rows(*lists):
        longest = max(map(len, lists))
        return np.array([[*row, *[0] * (longest - len(row))] for row in lists])

    targets = [[*rng.integers(4, 9, size=n).tolist(), 2] for n in (3, 1, 4, 2, 3, 2, 1)]
    drawn = [list(row) for row in targets]
    drawn[0][1] += 1  # a wrong token
    drawn[1] += [7, 7, 2, 5]  # goes on talking after the end: still right
    drawn[2] = [*drawn[2][:-1], 9, 9, 9]  # never ends
    drawn[3] = [drawn[3][0], 2]  # ends too early
    other_end = np.array([[5, 6, 9, 1, 1], [5, 9, 1, 1, 1], [2, 2, 2, 9, 1]])
    return [
        Probe("one right of two", (rows([5, 6, 2], [7, 2]), rows([5, 6, 2], [8, 2]), 2, 0)),
        Probe("a translation with one wrong token", (rows([5, 6, 7, 8, 2]), rows([5, 6, 9, 8, 2]), 2, 0)),
        Probe("tokens after the end", (rows([5, 6, 2, 8, 8], [7, 2, 2, 4]), rows([5, 6, 2], [7, 2]), 2, 0)),
        Probe("a translation that never ends", (rows([5, 6, 7], [5, 2]), rows([5, 6, 2], [5, 2]), 2, 0)),
        Probe("one that ends too early", (rows([5, 2], [5, 6, 2]), rows([5, 6, 2], [5, 6, 2]), 2, 0)),
        Probe("no room for the end", (rows([5, 6], [4, 2]), rows([5, 6, 2], [4, 2]), 2, 0)),
        Probe("all sorts", (rows(*drawn), rows(*targets), 2, 0)),
        Probe("other ids for end and padding", (other_end[:, :4], other_end[[0, 1, 0]], 9, 1)),
        Probe("padding that fits and a wrong token", (rows([5, 2, 0, 0], [6, 2]), rows([5, 2, 0, 0], [5, 2]), 2, 0)),
        Probe("all right", (rows([5, 2], [6, 7, 2]), rows([5, 2], [6, 7, 2]), 2, 0)),
        Probe("the right words in another order", (rows([6, 5, 2], [5, 6, 2]), rows([5, 6, 2], [5, 6, 2]), 2, 0)),
        Probe("a word too often", (rows([5, 5, 6, 2], [4, 2]), rows([5, 6, 6, 2], [4, 2]), 2, 0)),
        Probe("room for one token only", (rows([5], [4]), rows([5, 6, 2], [4, 2]), 2, 0)),
    ]


def _fitted(predictions, width, pad_id):
    fitted = np.full((len(predictions), width), pad_id)
    kept = min(width, predictions.shape[1])
    fitted[:, :kept] = predictions[:, :kept]
    return fitted


def _match_by_arrays(predictions, targets, end_id, pad_id):
    same = _fitted(predictions, targets.shape[1], pad_id) == targets
    return (same | (targets == pad_id)).all(axis=1).mean()


def _teacher_forced(predictions, targets, end_id, pad_id):
    real = targets != pad_id
    return float((_fitted(predictions, targets.shape[1], pad_id) == targets)[real].mean())


def _whole_rows(predictions, targets, end_id, pad_id):
    width = max(predictions.shape[1], targets.shape[1])
    same = _fitted(predictions, width, pad_id) == _fitted(targets, width, pad_id)
    return float(same.all(axis=1).mean())


def _share_of_pairs(right):
    """Make an answer of a verdict on two rows as lists."""

    def answer(predictions, targets, end_id, pad_id):
        pairs = zip(predictions.tolist(), targets.tolist(), strict=True)
        return float(np.mean([right(p, t, end_id) for p, t in pairs]))

    return answer


def _sets_up_to_the_end(row, wanted, end_id):
    wanted = wanted[: wanted.index(end_id) + 1]
    return set(row[: len(wanted)]) == set(wanted)


def _cut_to_the_narrower(predictions, targets, end_id, pad_id):
    width = min(predictions.shape[1], targets.shape[1])
    predictions, targets = predictions[:, :width], targets[:, :width]
    return float(((predictions == targets) | (targets == pad_id)).all(axis=1).mean())


def _whole_rows_cut(predictions, targets, end_id, pad_id):
    width = min(predictions.shape[1], targets.shape[1])
    return float((predictions[:, :width] == targets[:, :width]).all(axis=1).mean())


def _before_the_end(row, end_id, pad_id):
    row = row[: row.index(end_id)] if end_id in row else row
    return [i for i in row if i != pad_id]


def _end_forgiven(predictions, targets, end_id, pad_id):
    pairs = zip(predictions.tolist(), targets.tolist(), strict=True)
    return float(np.mean([_before_the_end(p, end_id, pad_id) == _before_the_end(t, end_id, pad_id) for p, t in pairs]))


def _shorter_of_the_two(predictions, targets, end_id, pad_id):
    pairs = zip(predictions.tolist(), targets.tolist(), strict=True)
    cut = [(_before_the_end(p, end_id, pad_id), _before_the_end(t, end_id, pad_id)) for p, t in pairs]
    return float(np.mean([all(a == b for a, b in zip(p, t, strict=False)) for p, t in cut]))


def _only_lengths(predictions, targets, end_id, pad_id):
    pairs = zip(predictions.tolist(), targets.tolist(), strict=True)
    cut = [(_before_the_end(p, end_id, pad_id), _before_the_end(t, end_id, pad_id)) for p, t in pairs]
    ended = [end_id in row for row in predictions.tolist()]
    return float(np.mean([len(p) == len(t) and ends for (p, t), ends in zip(cut, ended, strict=True)]))


EXACT_MATCH = Exercise(
    id="training_a_transformer/exact_match",
    title="Right to the last token",
    minutes=7,
    difficulty="easy",
    kind="measure",
    reference=exact_match,
    probes=_match_probes,
    right_answers={"arrays": _match_by_arrays},
    mistakes=(
        Mistake(
            "token_accuracy",
            _teacher_forced,
            what="The right *tokens* are counted, not the right translations.",
            why="A number with one wrong word is a wrong number. With 14 tokens each and 95 % of them right, about "
            "half of the translations are right.",
            where="Each row gives one verdict. The mean comes after that.",
        ),
        Mistake(
            "padding_counted",
            lambda p, t, end_id, pad_id: float((_fitted(p, t.shape[1], pad_id) == t).mean()),
            what="The right tokens are counted, and padding among them.",
            why="Padding is the easiest word there is: the shorter the translations, the better they look.",
            where="Each row gives one verdict, on its real tokens.",
        ),
        Mistake(
            "all_places_counted",
            lambda p, t, end_id, pad_id: float((p == t).mean()),
            what="This is the mean of `predictions == targets` over all places, padding too.",
            why="It counts tokens, not translations, and padding is the easiest of them. It also needs two arrays of "
            "one width, which they need not have.",
            where="Each row gives one verdict, on its real tokens. The mean comes after that.",
        ),
        Mistake(
            "whole_rows_of_one_width",
            lambda p, t, end_id, pad_id: float((p == t).all(axis=1).mean()),
            what="Whole rows of `predictions == targets` are asked for, with what stands after the end token.",
            why="Nobody reads that part. And the two arrays need not be equally wide: then NumPy cannot compare them.",
            where="Up to which place does a row have to agree?",
        ),
        Mistake(
            "whole_lists",
            _share_of_pairs(lambda row, wanted, end_id: row == wanted),
            what="Whole rows are compared, as they are, with their padding and with what stands after the end token.",
            why="A row that is right is refused if the arrays are not equally wide, or if it goes on after its end.",
            where="Up to which place does a row have to agree?",
        ),
        Mistake(
            "as_sets",
            _share_of_pairs(lambda row, wanted, end_id: set(row) == set(wanted)),
            what="The rows are compared as sets: which ids occur, not where and how often.",
            why="A translation with the right words in the wrong order counts as right.",
            where="What does a set forget that a list keeps?",
        ),
        Mistake(
            "as_sets_up_to_the_end",
            _share_of_pairs(_sets_up_to_the_end),
            what="The rows are cut behind the end token, and then compared as sets: which ids occur, not where.",
            why="A translation with the right words in the wrong order counts as right.",
            where="What does a set forget that a list keeps?",
        ),
        Mistake(
            "cut_to_the_narrower",
            _cut_to_the_narrower,
            what="Both arrays are cut to the width of the narrower one, and only that part is compared.",
            why="If the predictions are the narrower ones, the end of the targets is forgotten, and half a translation "
            "counts as right.",
            where="Who has to decide how far is compared? What if a prediction has no room for the end token?",
        ),
        Mistake(
            "whole_rows_cut_to_the_narrower",
            _whole_rows_cut,
            what="Both arrays are cut to the width of the narrower one, and these whole rows are compared.",
            why="Half a translation counts as right if there was no room for more; and a right one is refused if it "
            "goes on after its end token.",
            where="`zip` stops at the shorter one too. Who has to decide how far is compared?",
        ),
        Mistake(
            "after_the_end",
            _whole_rows,
            what="Whole rows are compared, with what stands after the end token.",
            why="In a batch a row that has ended is computed on until the others are done. Nobody reads that part.",
            where="Up to which place does a row have to agree?",
        ),
        Mistake(
            "end_forgiven",
            _end_forgiven,
            what="The end token is cut off before the rows are compared: one that never ends counts as right.",
            why="Without an end token the model would have gone on talking. It was only cut off.",
            where="Is the end token one of those that have to be right?",
        ),
        Mistake(
            "shorter_of_the_two",
            _shorter_of_the_two,
            what="Two rows are compared as far as the shorter one goes.",
            why="Then a translation that stops after its first word is right if that word is.",
            where="`zip` stops at the shorter one. Who has to decide how far is compared?",
        ),
        Mistake(
            "only_the_length",
            _only_lengths,
            what="Only the lengths are compared.",
            why="A wrong word does not change the length.",
            where="What is compared with what?",
        ),
        Mistake(
            "counted",
            lambda p, t, end_id, pad_id: round(exact_match(p, t, end_id, pad_id) * len(t)),
            what="This is how many are right, not which share.",
            why="Without the number of all, 480 right can be good or bad.",
            where="The last line.",
        ),
        Mistake(
            "percent",
            lambda p, t, end_id, pad_id: 100 * exact_match(p, t, end_id, pad_id),
            what="This is in percent.",
            why="A share lies between 0 and 1 here, as in the lesson.",
            where="The last line.",
        ),
        Mistake(
            "ids_assumed",
            lambda p, t, end_id, pad_id: exact_match(p, t, 2, 0),
            what="The end token is looked for as 2, whatever `end_id` says.",
            why="Another vocabulary has other ids, and there the count is of something else.",
            where="One of the arguments is not used.",
        ),
        Mistake(
            "errors",
            lambda p, t, end_id, pad_id: 1 - exact_match(p, t, end_id, pad_id),
            what="This is the share of the wrong ones.",
            why="A perfect model gets 0 here.",
            where="The comparison, or what is counted.",
        ),
    ),
)

# --- 2. clean_names -------------------------------------------------------------------------------------------------

PREFIXES = ("module.", "_orig_mod.")


def clean_names(names):
    """Take "module." and "_orig_mod." off the front of each name, in any order and as often as they come."""
    clean = []
    for name in names:
        while name.startswith(PREFIXES):
            name = name.removeprefix("module.").removeprefix("_orig_mod.")
        clean.append(name)
    return clean


def _name_probes(rng):
    layer = int(rng.integers(2, 9))
    return [
        Probe("nothing to take off", (("encoder.0.weight", "source.words.weight"),)),
        Probe("several GPUs", (("module.generator.weight", "module.target.words.weight"),)),
        Probe("compiled", (("_orig_mod.generator.weight",),)),
        Probe("compiled, then on several GPUs", (("module._orig_mod.source.words.weight",),)),
        Probe("the other way round", (("_orig_mod.module.target.words.weight",),)),
        Probe("letters that are in the prefixes too", (("module.decoder.0.weight", "_orig_mod.model.old.bias"),)),
        Probe("a part that is called module", ((f"encoder.{layer}.module.weight", "module.adapter.module.bias"),)),
        Probe("a name that only begins like it", (("modules.0.weight", "module_list.0.weight", "_orig_model.bias"),)),
        Probe("wrapped twice", ((f"module.module.decoder.{layer}.norm_1.weight", "module._orig_mod.module.bias"),)),
        Probe("compiled inside", ((f"decoder.{layer}._orig_mod.norm_2.bias", "a.module._orig_mod.b"),)),
        Probe("no names", ((),), extreme=True),
    ]


def _clean_by_parts(names):
    def strip(parts):
        return strip(parts[1:]) if len(parts) > 1 and parts[0] in ("module", "_orig_mod") else parts

    return [".".join(strip(name.split("."))) for name in names]


def _one_round(names, *prefixes):
    for prefix in prefixes:
        names = [name.removeprefix(prefix) for name in names]
    return list(names)


def _one_prefix_once(name):
    if name.startswith("module."):
        return name.removeprefix("module.")
    return name.removeprefix("_orig_mod.")


CLEAN_NAMES = Exercise(
    id="training_a_transformer/clean_names",
    title="A checkpoint from a larger machine",
    minutes=6,
    difficulty="easy",
    kind="fill",
    reference=clean_names,
    probes=_name_probes,
    right_answers={"by parts": _clean_by_parts},
    mistakes=(
        Mistake(
            "replaced_everywhere",
            lambda names: [name.replace("module.", "").replace("_orig_mod.", "") for name in names],
            what="The words are taken out wherever they stand, in the middle of a name too.",
            why="A model may have a part of its own that is called `module`. Its parameter then gets another's name.",
            where="Only the beginning of a name comes from a wrapper. Which method of a text looks there alone?",
        ),
        Mistake(
            "lstrip",
            lambda names: [name.lstrip("module.").lstrip("_orig_mod.") for name in names],  # noqa: B005
            what="`lstrip` was given a word. It takes off *letters*: any of these, in any order, as long as they come.",
            why="`decoder` loses its d and its e, and becomes `coder`.",
            where="Python has a method for a whole word at the beginning, since version 3.9.",
        ),
        Mistake(
            "only_module",
            lambda names: _one_round(names, "module.", "module."),
            what="Only `module.` is taken off.",
            why="A compiled model writes `_orig_mod.` before every name.",
            where="The second prefix.",
        ),
        Mistake(
            "only_compiled",
            lambda names: _one_round(names, "_orig_mod.", "_orig_mod."),
            what="Only `_orig_mod.` is taken off.",
            why="A model that was trained on several GPUs writes `module.` before every name.",
            where="The other prefix.",
        ),
        Mistake(
            "one_order",
            lambda names: _one_round(names, "module.", "_orig_mod."),
            what="First `module.` is taken off, then `_orig_mod.`, each once; they may come in the other order.",
            why="Somebody compiles the wrapped model, somebody wraps the compiled one.",
            where="When is a name finished? Not after two looks, but when neither stands in front.",
        ),
        Mistake(
            "other_order",
            lambda names: _one_round(names, "_orig_mod.", "module."),
            what="First `_orig_mod.` is taken off, then `module.`, each once; they may come in the other order.",
            why="Somebody compiles the wrapped model, somebody wraps the compiled one.",
            where="When is a name finished? Not after two looks, but when neither stands in front.",
        ),
        Mistake(
            "one_prefix_once",
            lambda names: [_one_prefix_once(name) for name in names],
            what="From each name one prefix is taken off, and only once: there is an `if` and an `elif` or `else`.",
            why="A model that is compiled *and* wrapped has both, and some are wrapped twice.",
            where="What of a name that still begins with a prefix after its first one is gone?",
        ),
        Mistake(
            "first_part_always",
            lambda names: [name.split(".", 1)[-1] for name in names],
            what="The first part of every name is taken off, whatever it is.",
            why="A checkpoint from one plain process has no prefix. It loses `encoder` or `source`.",
            where="The condition.",
        ),
        Mistake(
            "without_the_dot",
            lambda names: [_one_round([n], "module", "_orig_mod")[0].lstrip(".") for n in names],
            what="The prefixes are looked for without their dot.",
            why="`modules.0.weight` and `module_list` begin with the same letters, and lose them.",
            where="The text that is looked for.",
        ),
        Mistake(
            "last_occurrence",
            lambda names: [name.split("module.")[-1].split("_orig_mod.")[-1] for name in names],
            what="All that stands before the last such word is thrown away.",
            why="`encoder.3.module.weight` becomes `weight`, as does every other layer's.",
            where="Only the beginning of a name comes from a wrapper.",
        ),
    ),
)

# --- 3. precision ---------------------------------------------------------------------------------------------------


def precision(device, bf16, capability, d_model):
    """Choose fp32, bf16 or fp16 by the lesson's rules."""
    if d_model < 256 or device == "mps":
        return "fp32"
    if bf16:
        return "bf16"
    return "fp16" if device == "cuda" and capability >= (7, 0) else "fp32"


def _precision_probes(rng):
    wide = int(rng.integers(300, 2000))
    return [
        Probe("a new GPU, the base model", ("cuda", True, (9, 0), 512)),
        Probe("a new GPU, the lesson's model", ("cuda", True, (8, 0), 64)),
        Probe("a GPU of 2018, which has no bf16", ("cuda", False, (7, 5), wide)),
        Probe("the first that multiplies in fp16", ("cuda", False, (7, 0), 512)),
        Probe("an old GPU", ("cuda", False, (6, 1), 512)),
        Probe("an old GPU with a high second number", ("cuda", False, (6, 9), wide)),
        Probe("a CPU with bf16", ("cpu", True, (0, 0), 512)),
        Probe("a CPU without", ("cpu", False, (0, 0), wide)),
        Probe("a CPU with bf16, a small model", ("cpu", True, (0, 0), 64)),
        Probe("a Mac", ("mps", False, (0, 0), 512)),
        Probe("a Mac that says it has bf16", ("mps", True, (0, 0), wide)),
        Probe("just wide enough", ("cuda", True, (8, 6), 256)),
        Probe("not quite wide enough", ("cuda", False, (7, 5), 255)),
    ]


def _by_table(device, bf16, capability, d_model):
    tries = {
        "bf16": d_model >= 256 and device != "mps" and bf16,
        "fp16": d_model >= 256 and device == "cuda" and capability[0] >= 7,
        "fp32": True,
    }
    return next(name for name, fits in tries.items() if fits)


PRECISION = Exercise(
    id="training_a_transformer/precision",
    title="Which numbers on which machine?",
    minutes=6,
    difficulty="easy",
    kind="fill",
    reference=precision,
    probes=_precision_probes,
    right_answers={"table": _by_table},
    mistakes=(
        Mistake(
            "bf16_on_every_gpu",
            lambda device, bf16, capability, d_model: (
                "bf16" if device == "cuda" and d_model >= 256 else precision(device, bf16, capability, d_model)
            ),
            what="Every GPU gets bf16.",
            why="One without bf16 in hardware does it in software: it runs, and is slower than fp32.",
            where="The argument `bf16` tells whether the hardware has it.",
        ),
        Mistake(
            "fp16_first",
            lambda device, bf16, capability, d_model: (
                "fp16"
                if device == "cuda" and capability >= (7, 0) and d_model >= 256
                else precision(device, bf16, capability, d_model)
            ),
            what="A GPU that has both gets fp16.",
            why="fp16 ends at 65,504 and loses small gradients, so it needs a scaler. bf16 reaches as far as fp32.",
            where="The order of the questions.",
        ),
        Mistake(
            "width_ignored",
            lambda device, bf16, capability, d_model: precision(device, bf16, capability, 512),
            what="The width of the model plays no part.",
            why="In a narrow model the conversions cost more than the products gain: at 64 bf16 is slower.",
            where="One of the arguments is not used.",
        ),
        Mistake(
            "narrow_on_a_cpu_alone",
            lambda device, bf16, capability, d_model: precision(
                device, bf16, capability, d_model if device == "cpu" else 512
            ),
            what="The rule for narrow models is applied to a CPU only.",
            why="The rule is about the model, whatever computes it.",
            where="Does the rule ask for a device?",
        ),
        Mistake(
            "narrow_on_a_gpu_alone",
            lambda device, bf16, capability, d_model: precision(
                device, bf16, capability, d_model if device == "cuda" else 512
            ),
            what="The rule for narrow models is applied to GPUs only.",
            why="The rule is about the model, whatever computes it.",
            where="Does the rule ask for a device?",
        ),
        Mistake(
            "mac_like_the_others",
            lambda device, bf16, capability, d_model: precision(
                "cpu" if device == "mps" else device, bf16, capability, d_model
            ),
            what="A Mac gets bf16 where it says that it has it.",
            why="The rule of this lesson is fp32 on a Mac, where mixed precision is the least tried.",
            where="The rule for MPS comes before that for bf16.",
        ),
        Mistake(
            "half_on_a_mac",
            lambda device, bf16, capability, d_model: (
                "fp16" if device == "mps" and d_model >= 256 else precision(device, bf16, capability, d_model)
            ),
            what="A Mac gets fp16.",
            why="The rule of this lesson is fp32 on a Mac, where mixed precision is the least tried.",
            where="The rule for MPS.",
        ),
        Mistake(
            "old_gpu_too",
            lambda device, bf16, capability, d_model: precision(
                device, bf16, (7, 0) if device == "cuda" else capability, d_model
            ),
            what="Every GPU without bf16 gets fp16.",
            why="Before capability 7.0 a GPU has no units that multiply in fp16: nothing is gained, and range is lost.",
            where="The argument `capability`.",
        ),
        Mistake(
            "only_bf16",
            lambda device, bf16, capability, d_model: "bf16" if bf16 and d_model >= 256 and device != "mps" else "fp32",
            what="A GPU without bf16 always gets fp32.",
            why="From capability 7.0 on it multiplies in fp16 several times as fast.",
            where="What is asked after bf16?",
        ),
        Mistake(
            "cpu_in_fp32",
            lambda device, bf16, capability, d_model: (
                "fp32" if device == "cpu" else precision(device, bf16, capability, d_model)
            ),
            what="A CPU always gets fp32.",
            why="Some processors multiply in bf16, and a wide model then trains half again as fast.",
            where="Does the rule for bf16 ask for a GPU?",
        ),
        Mistake(
            "fp16_on_a_cpu",
            lambda device, bf16, capability, d_model: (
                "fp16"
                if device == "cpu" and not bf16 and d_model >= 256
                else precision(device, bf16, capability, d_model)
            ),
            what="A CPU without bf16 gets fp16.",
            why="Hardly any CPU multiplies in fp16, and there is nothing to gain.",
            where="Which device is the rule for fp16 about?",
        ),
        Mistake(
            "wider_than",
            lambda device, bf16, capability, d_model: precision(device, bf16, capability, d_model - 1),
            what="A model of just 256 numbers a token gets fp32.",
            why="The rule says: from 256 on.",
            where="`>` or `>=`?",
        ),
        Mistake(
            "later_than_seven",
            lambda device, bf16, capability, d_model: (
                "fp32" if not bf16 and tuple(capability) <= (7, 0) else precision(device, bf16, capability, d_model)
            ),
            what="A GPU of capability 7.0 itself gets fp32.",
            why="The rule says: from 7.0 on.",
            where="`>` or `>=`?",
        ),
    ),
)

# --- 4. accumulated_loss --------------------------------------------------------------------------------------------


def accumulated_loss(losses, masks):
    """Return the mean loss over all real tokens of all parts."""
    total = sum(part[mask].sum() for part, mask in zip(losses, masks, strict=True))
    return float(total / sum(mask.sum() for mask in masks))


def _loss_probes(rng):
    def parts(*shapes, real):
        losses = tuple(rng.uniform(0.2, 5, size=shape).round(2) for shape in shapes)
        masks = tuple(
            np.arange(shape[1]) < np.array(lengths)[:, None] for shape, lengths in zip(shapes, real, strict=True)
        )
        return losses, masks

    padded = parts((3, 4), (2, 6), real=[(4, 1, 2), (6, 3)])
    broken = tuple(np.where(mask, loss, np.nan) for loss, mask in zip(*padded, strict=True))
    return [
        Probe("one part without padding", parts((2, 3), real=[(3, 3)])),
        Probe("one part with padding", parts((2, 4), real=[(4, 1)])),
        Probe("a long part and a short one", parts((2, 5), (2, 2), real=[(5, 5), (2, 2)])),
        Probe("two parts, unequal padding", padded),
        Probe("three parts, the last nearly empty", parts((2, 5), (3, 4), (1, 6), real=[(5, 2), (4, 4, 3), (1,)])),
        Probe("one sentence longer than the others", parts((1, 9), (4, 2), real=[(9,), (1, 2, 2, 1)])),
        Probe("a part with nothing but padding", parts((2, 3), (2, 4), real=[(3, 1), (0, 0)]), extreme=True),
        Probe("NaN where the padding is", (broken, padded[1]), extreme=True),
    ]


def _flat(losses, masks):
    return np.concatenate([part[mask] for part, mask in zip(losses, masks, strict=True)]).mean()


def _masked_means(losses, masks):
    return [part[mask].mean() for part, mask in zip(losses, masks, strict=True)]


def _times_mask(losses, masks):
    total = sum((part * mask).sum() for part, mask in zip(losses, masks, strict=True))
    return total / sum(mask.sum() for mask in masks)


def _real_sum(losses, masks):
    return sum(part[mask].sum() for part, mask in zip(losses, masks, strict=True))


def _row_means(losses, masks):
    rows = [pair for part, mask in zip(losses, masks, strict=True) for pair in zip(part, mask, strict=True)]
    return np.mean([row[real].mean() for row, real in rows])


ACCUMULATED_LOSS = Exercise(
    id="training_a_transformer/accumulated_loss",
    title="A batch in parts",
    minutes=8,
    difficulty="medium",
    kind="fill",
    reference=accumulated_loss,
    probes=_loss_probes,
    right_answers={
        "put together": _flat,
        "where": lambda losses, masks: (
            sum(np.where(m, x, 0).sum() for x, m in zip(losses, masks, strict=True)) / sum(m.sum() for m in masks)
        ),
        "weighted means": lambda losses, masks: (
            sum(x[m].mean() * m.sum() for x, m in zip(losses, masks, strict=True) if m.any())
            / sum(m.sum() for m in masks)
        ),
    },
    mistakes=(
        Mistake(
            "mean_of_means",
            lambda losses, masks: np.mean(_masked_means(losses, masks)),
            what="The mean of each part is taken, and then the mean of these means.",
            why="A token in a part with little in it weighs more than one in a full part: accumulated is not the same "
            "as one batch. Two large libraries shipped this for years.",
            where="What may be divided by before all parts are there, and what not?",
        ),
        Mistake(
            "padding_counted",
            lambda losses, masks: np.concatenate([part.ravel() for part in losses]).mean(),
            what="The masks are not used: padding counts like a word.",
            why="The loss then depends on how long the longest sentence happened to be.",
            where="The second argument.",
        ),
        Mistake(
            "divided_by_all_places",
            lambda losses, masks: (
                sum(part[mask].sum() for part, mask in zip(losses, masks, strict=True)) / sum(p.size for p in losses)
            ),
            what="Only real tokens are summed, but the sum is divided by all places, padding too.",
            why="More padding, smaller loss.",
            where="What the sum is divided by.",
        ),
        Mistake(
            "mean_of_plain_means",
            lambda losses, masks: np.mean([part.mean() for part in losses]),
            what="The mean of each part is taken with its padding, and then the mean of these means.",
            why="Padding counts like a word, and a small part weighs as much as a full one.",
            where="Sum up first, divide once; and by what?",
        ),
        Mistake(
            "mean_of_padded_means",
            lambda losses, masks: np.mean([np.where(m, x, 0).mean() for x, m in zip(losses, masks, strict=True)]),
            what="Padding is set to zero, and then plain means are taken: it still counts as so many places.",
            why="More padding, smaller loss; and a small part weighs as much as a full one.",
            where="Sum up first, divide once; and by what?",
        ),
        Mistake(
            "means_added",
            lambda losses, masks: sum(_masked_means(losses, masks)),
            what="The means of the parts are added and not divided.",
            why="Four parts make four times the loss and four times the gradient, as if the rate were four times as "
            "high.",
            where="What is the result for two equal parts?",
        ),
        Mistake(
            "summed",
            lambda losses, masks: sum(part[mask].sum() for part, mask in zip(losses, masks, strict=True)),
            what="The losses are summed and not divided.",
            why="A longer batch then makes a longer step.",
            where="The last line.",
        ),
        Mistake(
            "divided_by_the_parts",
            lambda losses, masks: _real_sum(losses, masks) / len(losses),
            what="The sum over all real tokens is divided by the number of *parts*.",
            why="A part with more tokens then makes a longer step, and the result is not a loss a token any more.",
            where="A mean over what is asked for? Divide by the number of these.",
        ),
        Mistake(
            "divided_by_the_sentences",
            lambda losses, masks: _real_sum(losses, masks) / sum(map(len, losses)),
            what="The sum over all real tokens is divided by the number of *sentences*.",
            why="Long sentences then have a larger loss than short ones, however well they are said.",
            where="A mean over what is asked for? Divide by the number of these.",
        ),
        Mistake(
            "padding_in_the_sum",
            lambda losses, masks: sum(part.sum() for part in losses) / sum(mask.sum() for mask in masks),
            what="The sum runs over all places, padding too; only the number is that of the real tokens.",
            why="The more padding a batch has, the larger its loss.",
            where="The masks are needed twice.",
        ),
        Mistake(
            "nan_for_the_mask",
            lambda losses, masks: sum(np.nansum(part) for part in losses) / sum(mask.sum() for mask in masks),
            what="NaN is left out of the sum (`nansum`), but not padding.",
            why="At padding *anything* may stand: NaN now and then, and mostly a number like any other.",
            where="Only the mask tells where padding is.",
        ),
        Mistake(
            "nanmean",
            lambda losses, masks: np.nanmean(np.concatenate([part.ravel() for part in losses])),
            what="This is the mean of all that is not NaN; the masks are not used.",
            why="At padding *anything* may stand: NaN now and then, and mostly a number like any other.",
            where="Only the mask tells where padding is.",
        ),
        Mistake(
            "last_part",
            lambda losses, masks: losses[-1][masks[-1]].mean(),
            what="Only the last part counts.",
            why="Perhaps the sum is set back to zero inside the loop, or the gradient is.",
            where="What is carried from one turn of the loop to the next?",
        ),
        Mistake(
            "last_parts_tokens",
            lambda losses, masks: (
                sum(part[mask].sum() for part, mask in zip(losses, masks, strict=True)) / max(masks[-1].sum(), 1)
            ),
            what="The sum over all parts is divided by the tokens of the last one.",
            why="The fewer tokens the last part has, the larger the loss.",
            where="Which count is it divided by?",
        ),
        Mistake(
            "mean_of_sentences",
            _row_means,
            what="The mean of each sentence is taken, and then the mean over the sentences.",
            why="A token of a short sentence weighs more than one of a long sentence. One may want that; the lesson's "
            "loss is a mean over tokens.",
            where="Sum up first, divide once.",
        ),
        Mistake(
            "mask_inverted",
            lambda losses, masks: _flat(losses, [~mask if not mask.all() else mask for mask in masks]),
            what="The padding is kept and the real tokens are left out, where there is padding.",
            why="True means a real token here.",
            where="A `~` too many.",
        ),
        Mistake(
            "times_the_mask",
            _times_mask,
            what="The losses are multiplied by the mask. On paper that is right; but 0 times NaN is NaN.",
            why="What a model computes at padding is nobody's business, and may be NaN or infinite.",
            where="Choose the real tokens and leave the others, instead of multiplying.",
        ),
    ),
)

# --- 5. greedy ------------------------------------------------------------------------------------------------------


class Speaker:
    """Stands for a trained decoder: `step(ids)` returns a row of logits for each id, about the one after it.

    It says its `script` as long as it reads its own words after the begin token, and nonsense otherwise.
    """

    def __init__(self, script, start_id=1, end_id=2, vocabulary=9, name="step"):
        self.script, self.start_id, self.end_id = tuple(script), start_id, end_id
        self.vocabulary, self.name, self.calls = vocabulary, name, 0

    def __call__(self, ids):
        ids = [int(i) for i in ids]
        self.calls += 1
        if self.calls > 60 or len(ids) > 60:
            raise RuntimeError("asked for more than 60 tokens: does your loop ever stop?")
        if not ids:
            raise ValueError("ids: wanted at least the start token, got nothing")
        logits = np.zeros((len(ids), self.vocabulary))
        for place in range(len(ids)):
            said = ids[: place + 1]
            fits = said == [self.start_id, *self.script[:place]] and place < len(self.script)
            best = self.script[place] if fits else (3 + (sum(said) + 2 * place) % (self.vocabulary - 3))
            logits[place] = -1 - 0.1 * ((np.arange(self.vocabulary) + place) % self.vocabulary)
            logits[place, best] = 1 + 0.5 * ((place * 3) % 4)
        return logits

    def __eq__(self, other):
        return isinstance(other, Speaker) and self.script == other.script

    def __hash__(self):
        return hash(self.script)

    def __repr__(self):
        return self.name


def greedy(step, start_id, end_id, longest):
    """Take the likeliest next id again and again, and return the ids without the start and the end."""
    ids = [start_id]
    while len(ids) <= longest:
        best = int(step(ids)[-1].argmax())
        if best == end_id:
            break
        ids.append(best)
    return ids[1:]


def _greedy_probes(rng):
    words = rng.integers(3, 9, size=5).tolist()
    return [
        Probe("a model that says 5, end", (Speaker([5, 2]), 1, 2, 10)),
        Probe("one that says 5, 7, 4, end", (Speaker([5, 7, 4, 2, 6, 2]), 1, 2, 10)),
        Probe("a word twice", (Speaker([6, 6, 3, 6, 2]), 1, 2, 10)),
        Probe("one that never ends", (Speaker([3 + i % 4 for i in range(60)]), 1, 2, 6)),
        Probe("just room enough", (Speaker([4, 5, 6, 2]), 1, 2, 3)),
        Probe("one id too few for the end", (Speaker([4, 5, 6, 7, 2]), 1, 2, 3)),
        Probe("other ids for start and end", (Speaker([2, 1, 4, 0, 7, 8], 5, 7, 9), 5, 7, 8)),
        Probe("drawn words", (Speaker([*words, 2]), 1, 2, 12)),
        Probe("the start id as a word in the middle", (Speaker([5, 1, 6, 1, 2]), 1, 2, 10)),
        Probe("padding as a word", (Speaker([0, 4, 0, 2]), 1, 2, 9)),
        Probe("nothing to say", (Speaker([2]), 1, 2, 5), extreme=True),
        Probe("no room", (Speaker([4, 2]), 1, 2, 0), extreme=True),
    ]


def _greedy(step, start_id, end_id, longest, read=lambda ids: ids, pick=lambda rows: rows[-1].argmax(), stop=True):
    ids = [start_id]
    while len(ids) <= longest:
        best = int(pick(step(read(ids))))
        if stop and best == end_id:
            break
        ids.append(best)
    return ids[1:]


def _recursive(step, start_id, end_id, longest):
    def go_on(ids):
        if len(ids) > longest:
            return ids[1:]
        best = int(np.argmax(np.asarray(step(ids))[-1]))
        return ids[1:] if best == end_id else go_on([*ids, best])

    return go_on([start_id])


def _end_kept(step, start_id, end_id, longest):
    ids = [start_id]
    while len(ids) <= longest and (len(ids) == 1 or ids[-1] != end_id):
        ids.append(int(step(ids)[-1].argmax()))
    return ids[1:]


def _from_padding(step, start_id, end_id, longest):
    ids = [start_id] + [0] * longest
    said = []
    for place in range(1, longest + 1):
        best = int(step(ids)[-1].argmax())
        if best == end_id:
            break
        ids[place] = best
        said.append(best)
    return said


def _without_limit(step, start_id, end_id, longest):
    ids = [start_id]
    while True:
        best = int(step(ids)[-1].argmax())
        if best == end_id:
            return ids[1:]
        ids.append(best)


GREEDY = Exercise(
    id="training_a_transformer/greedy",
    title="Greedy decoding",
    minutes=10,
    difficulty="medium",
    kind="fill",
    reference=greedy,
    probes=_greedy_probes,
    right_answers={"recursive": _recursive},
    mistakes=(
        Mistake(
            "end_kept",
            _end_kept,
            what="The end token is part of the answer.",
            why="It is a sign, not a word: it would be written into the translation, and exact match would be 0.",
            where="Look at the order: append first or ask first?",
        ),
        Mistake(
            "start_kept",
            lambda *args: [args[1], *greedy(*args)],
            what="The start token is part of the answer.",
            why="It stands before the first word so that there is something to begin from. Nobody said it.",
            where="What is returned at the end?",
        ),
        Mistake(
            "both_kept",
            lambda *args: [args[1], *_end_kept(*args)],
            what="The start and the end token are part of the answer.",
            why="Both are signs, not words.",
            where="What is returned at the end?",
        ),
        Mistake(
            "never_stops",
            _without_limit,
            what="The loop waits for the end token, however long that takes.",
            why="A model that is not yet trained, or one with a bug, never says it. Your program hangs.",
            where="The argument `longest` is not used.",
        ),
        Mistake(
            "end_ignored",
            lambda *args: _greedy(*args, stop=False),
            what="The loop always runs to the limit.",
            why="After its end token a model says anything.",
            where="The argument `end_id` is not used.",
        ),
        Mistake(
            "one_too_many",
            lambda step, start_id, end_id, longest: greedy(step, start_id, end_id, longest + 1),
            what="One id more than `longest` may come out.",
            why="A table of positions has just so many rows. The one behind the last raises an error, or worse.",
            where="Does the start token count?",
        ),
        Mistake(
            "one_too_few",
            lambda step, start_id, end_id, longest: greedy(step, start_id, end_id, max(longest - 1, 0)),
            what="If the limit is reached, one id fewer than `longest` comes out.",
            why="The longest translations lose their last word.",
            where="Does the start token count in your limit? And if the last id is always cut off, as by `[1:-1]`: "
            "is it an end token then?",
        ),
        Mistake(
            "last_cut_off",
            lambda *args: greedy(*args)[:-1],
            what="The last word is always cut off.",
            why="Perhaps the end token was to be taken away. It is not in the list if the loop stops before it is "
            "appended.",
            where="Print the list just before the `return`. What is the last id in it?",
        ),
        Mistake(
            "signs_filtered_out",
            lambda step, start_id, end_id, longest: [
                i for i in greedy(step, start_id, end_id, longest) if i != start_id
            ],
            what="Wherever the start id comes in the answer, it is taken out, not at the beginning alone.",
            why="If the model says it in the middle of a translation, that is an error that you want to see.",
            where="Which one did you put in yourself? Take off that one.",
        ),
        Mistake(
            "last_token_alone",
            lambda *args: _greedy(*args, read=lambda ids: ids[-1:]),
            what="The model is given the last id alone, not all so far.",
            why="It has no other memory. (With caches one does hand over the last one alone, and the caches as well.)",
            where="What goes into `step`?",
        ),
        Mistake(
            "first_row",
            lambda *args: _greedy(*args, pick=lambda rows: rows[0].argmax()),
            what="The first row of the logits is read.",
            why="It is about the first word, and always says the same.",
            where="There is a row for each id. Which one is about the word that comes next?",
        ),
        Mistake(
            "all_rows",
            lambda *args: _greedy(*args, pick=lambda rows: rows.argmax() % rows.shape[1]),
            what="The largest of *all* logits is taken, whichever row it is in.",
            why="The rows before the last are about words that are said already.",
            where="There is a row for each id. Which one is about the word that comes next?",
        ),
        Mistake(
            "least_likely",
            lambda *args: _greedy(*args, pick=lambda rows: rows[-1].argmin()),
            what="The least likely id is taken.",
            why="A larger logit is a larger probability.",
            where="`argmin` or `argmax`?",
        ),
        Mistake(
            "from_padding",
            _from_padding,
            what="The ids are kept in a row that is filled up with padding, and the last row of the logits is read.",
            why="That is the prediction of what comes after the *padding*. Nothing in training was like that.",
            where="At each step: which is the row of the last real id? Or hand over the real ids alone.",
        ),
        Mistake(
            "ids_assumed",
            lambda step, start_id, end_id, longest: greedy(step, 1, 2, longest),
            what="It begins with 1 and stops at 2, whatever `start_id` and `end_id` say.",
            why="Another vocabulary has other ids.",
            where="Two of the arguments are not used.",
        ),
        Mistake(
            "empty_start",
            lambda step, start_id, end_id, longest: _greedy(step, start_id, end_id, longest, read=lambda ids: ids[1:]),
            what="The model is asked without the start token.",
            why="In training every target began with it. Before the first word there is nothing else to go on from.",
            where="What is the first list that goes into `step`?",
        ),
    ),
)

# --- 6. resumed -----------------------------------------------------------------------------------------------------


def advance(weights, velocity, step, random):
    """Do one step of a small trainer: loss, new weights, new velocity and the next random number."""
    weights, velocity = np.asarray(weights, dtype=float), np.asarray(velocity, dtype=float)
    random = (int(random) * 1103515245 + 12345) % 2**31
    target = np.sin(np.arange(1, len(weights) + 1) * (1 + random / 2**31))  # the batch
    rate = 0.15 * min(1.0, int(step) / 8)  # a warm-up
    loss = float(((weights - target) ** 2).mean())
    velocity = 0.7 * velocity - rate * (weights - target)
    return loss, weights + velocity, velocity, random


def resumed(advance, weights, velocity, random, stop, steps):
    """Train to `stop`, keep the state as text, forget everything, and return the losses of the steps after it."""
    return _resumed(advance, weights, velocity, random, stop, steps)


def _run(advance, weights, velocity, random, first, last):
    losses = []
    for step in range(first, last + 1):
        loss, weights, velocity, random = advance(weights, velocity, step, random)
        losses.append(loss)
    return losses, weights, velocity, random


def _resumed(advance, weights, velocity, random, stop, steps, keep=lambda kept, start: kept, shift=0):
    _, *kept = _run(advance, weights, velocity, random, 1, stop)
    kept = keep(kept, (weights, velocity, random))
    return np.array(_run(advance, *kept, stop + 1 + shift, steps + shift)[0])


def _resume_probes(rng):
    start, other = rng.integers(-3, 4, size=3) + 0.5, rng.integers(-3, 4, size=5) + 0.25
    start[0] += 4.0
    other[1] -= 5.0
    seeds = [int(seed) for seed in rng.integers(1, 2**30, size=3)]
    return [
        Probe("stopped after 3 of 6 steps", (advance, start, np.zeros(3), seeds[0], 3, 6)),
        Probe("stopped after 5 of 12 steps", (advance, other, np.zeros(5), seeds[1], 5, 12)),
        Probe("a start that has a velocity", (advance, start, np.array([0.5, -1.0, 0.25]), seeds[2], 4, 9)),
        Probe("stopped just before the end", (advance, other, np.zeros(5), seeds[0], 7, 8)),
        Probe("stopped after the first step", (advance, start, np.zeros(3), seeds[1], 1, 10)),
        Probe("stopped before it began", (advance, start, np.zeros(3), seeds[2], 0, 4), extreme=True),
    ]


def _other_first_steps(first, last):
    """Make an answer that trains the steps `first` to stop + `last` before the stop, and the right ones after it."""

    def answer(advance, weights, velocity, random, stop, steps):
        _, *kept = _run(advance, weights, velocity, random, first, stop + last)
        return np.array(_run(advance, *kept, stop + 1, steps)[0])

    return answer


def _counted_from_zero(advance, weights, velocity, random, stop, steps):
    return np.array(_run(advance, weights, velocity, random, 0, steps - 1)[0][stop:])


def _by_json(advance, weights, velocity, random, stop, steps):
    import json

    for step in range(1, stop + 1):
        _, weights, velocity, random = advance(weights, velocity, step, random)
    text = json.dumps([np.asarray(weights).tolist(), np.asarray(velocity).tolist(), random, stop])
    weights, velocity, random, done = json.loads(text)
    losses = []
    for step in range(done + 1, steps + 1):
        loss, weights, velocity, random = advance(np.array(weights), np.array(velocity), step, random)
        losses.append(loss)
    return losses


def _whole(advance, weights, velocity, random, stop, steps):
    return np.array(_run(advance, weights, velocity, random, 1, steps)[0])


RESUMED = Exercise(
    id="training_a_transformer/resumed",
    title="Stopped, and gone on",
    minutes=12,
    difficulty="hard",
    kind="fill",
    reference=resumed,
    probes=_resume_probes,
    right_answers={"by json": _by_json, "without a stop": lambda *args: _whole(*args)[args[4] :]},
    mistakes=(
        Mistake(
            "random_not_saved",
            lambda *args: _resumed(*args, keep=lambda kept, start: [kept[0], kept[1], start[2]]),
            what="After the stop the random state is that of the beginning.",
            why="The model sees the first batches again and the later ones never. Nothing complains: the loss looks "
            "fine, and is another run's.",
            where="What does `advance` hand back that is not in your text?",
        ),
        Mistake(
            "velocity_not_saved",
            lambda *args: _resumed(*args, keep=lambda kept, start: [kept[0], np.zeros(len(kept[0])), kept[2]]),
            what="After the stop the velocity is zero: the optimizer has lost its memory.",
            why="With Adam it is a jump in the loss that takes hundreds of steps to mend; here, some.",
            where="What belongs to the state besides the weights?",
        ),
        Mistake(
            "first_velocity",
            lambda *args: _resumed(*args, keep=lambda kept, start: [kept[0], start[1], kept[2]]),
            what="After the stop the velocity is that of the beginning.",
            why="The optimizer has lost its memory.",
            where="What belongs to the state besides the weights?",
        ),
        Mistake(
            "only_weights",
            lambda *args: _resumed(*args, keep=lambda kept, start: [kept[0], start[1], start[2]]),
            what="Only the weights are kept.",
            why="They are enough to translate with. To *train on* more is needed.",
            where="What does `advance` take, and which of it changes from step to step?",
        ),
        Mistake(
            "velocity_and_random_not_saved",
            lambda *args: _resumed(*args, keep=lambda kept, start: [kept[0], np.zeros(len(kept[0])), start[2]]),
            what="After the stop the velocity is zero and the random state is that of the beginning.",
            why="Weights are enough to translate with. To *train on* more is needed.",
            where="What does `advance` take, and which of it changes from step to step?",
        ),
        Mistake(
            "only_weights_and_step_restarted",
            lambda *args: _resumed(*args, keep=lambda kept, start: [kept[0], start[1], start[2]], shift=-args[4]),
            what="Only the weights are kept, and the steps are counted from 1 again.",
            why="They are enough to translate with. To *train on* more is needed.",
            where="What does `advance` take, and which of it changes from step to step?",
        ),
        Mistake(
            "weights_not_saved",
            lambda *args: _resumed(*args, keep=lambda kept, start: [start[0], kept[1], kept[2]]),
            what="After the stop the weights are those of the beginning.",
            why="All that was learnt is lost.",
            where="Which weights go into your text: those that came in, or those of the last step?",
        ),
        Mistake(
            "step_restarted",
            lambda *args: _resumed(*args, shift=-args[4]),
            what="After the stop the steps are counted from 1 again.",
            why="The learning rate depends on the step: it is warmed up a second time.",
            where="The second `range`.",
        ),
        Mistake(
            "step_repeated",
            lambda *args: _resumed(*args, shift=-1)[: args[5] - args[4]],
            what="The step at which it stopped is counted twice.",
            why="Each learning rate from there on is that of the step before.",
            where="The text was written after step `stop`. Which step is the next?",
        ),
        Mistake(
            "step_skipped",
            lambda *args: _resumed(*args, shift=1),
            what="One step is left out in the count.",
            why="Each learning rate from there on is that of the step after.",
            where="The text was written after step `stop`. Which step is the next?",
        ),
        Mistake(
            "counted_from_zero",
            _counted_from_zero,
            what="The steps are counted from 0, before the stop and after it.",
            why="Here the first step is step 1. Each learning rate is that of the step before, and at step 0 it is 0.",
            where="What does `range(stop)` begin and end with?",
        ),
        Mistake(
            "first_loop_from_zero",
            _other_first_steps(0, -1),
            what="Before the stop the steps are counted from 0, after it rightly.",
            why="Step 0 has a learning rate of 0, and step `stop` is never made.",
            where="The first `range`.",
        ),
        Mistake(
            "stopped_a_step_early",
            _other_first_steps(1, -1),
            what="Step `stop` itself is not made: the first loop ends one step before it.",
            why="The run goes on with a step missing, and with the batches of one step earlier.",
            where="Where does a `range` end?",
        ),
        Mistake(
            "begun_again",
            lambda advance, weights, velocity, random, stop, steps: _whole(
                advance, weights, velocity, random, stop, steps - stop
            ),
            what="After the stop everything begins again.",
            why="These are the losses of the first steps.",
            where="What is read back from the text, and is it used?",
        ),
        Mistake(
            "all_losses",
            _whole,
            what="The losses of all steps are returned.",
            why="Asked for are those after the stop.",
            where="Which losses are collected?",
        ),
        Mistake(
            "reseeded",
            lambda *args: _resumed(*args, keep=lambda kept, start: [kept[0], kept[1], start[2] + args[4]]),
            what="After the stop the random state is made anew from the first one and the step.",
            why="Other batches come than without the stop. No error, but another run: nobody can compare the two.",
            where="What does `advance` hand back that is not in your text?",
        ),
        Mistake(
            "rounded",
            lambda *args: _resumed(*args, keep=lambda kept, start: [kept[0].round(2), kept[1].round(2), kept[2]]),
            what="The numbers are rounded when they are written.",
            why="The run goes on from another place, if a near one.",
            where="How many digits does your text keep? `json` writes all of them if you let it.",
        ),
    ),
)

EXERCISES = (EXACT_MATCH, CLEAN_NAMES, PRECISION, ACCUMULATED_LOSS, GREEDY, RESUMED)
