"""Trains subjectivity-text: a transformer encoder that tells opinions from facts, beside a linear baseline.

Started by `make.py subjectivity-text --sentences subjectivity.zip`. Data: Pang and Lee (2004), "A Sentimental
Education: Sentiment Analysis Using Subjectivity Summarization Based on Minimum Cuts", CC BY 4.0.
"""

from __future__ import annotations

import csv
import math
import random
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir
import onnxruntime as ort
from making import HERE, SEED, export, module_of, save, write_data
from onnx_ir.passes.common import RemoveUnusedNodesPass
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer
    from torch import nn

NAME = "subjectivity-text"
CALIBRATION_SAMPLES, EVALUATION_SAMPLES, HOLDOUT_SAMPLES = 128, 300, 400
#: Both files of the archive, and the label of their sentences.
PARTS = {"subjectivity/plot.tok.gt9.5000": 0, "subjectivity/quote.tok.gt9.5000": 1}

SPECIAL = ("[PAD]", "[UNK]", "[MASK]")
PAD_ID, MASK_ID = 0, 2
#: A word of the linear baseline: the sentences are already cut into words.
WORD = r"\S+"
VOCABULARY = 5000
#: Tokens at most that the network takes, and to which the shipped samples are padded or cut.
MAX_TOKENS, SAMPLE_TOKENS = 128, 64

LAYERS, WIDTH, HEADS, INNER_WIDTH = 4, 160, 5, 512
EPOCHS, BATCH, PEAK_LEARNING_RATE, WARM_UP = 7, 64, 1e-3, 0.15
DROPOUT, MASKED_TOKENS, WEIGHT_DECAY, LABEL_SMOOTHING = 0.3, 0.15, 0.05, 0.05
#: What a masked position gets added before the softmax.
MASKED = -1e4


@dataclass(frozen=True)
class Sentences:
    """Sentences with their labels: 0 objective (from a plot summary), 1 subjective (from a review)."""

    texts: list[str]
    labels: np.ndarray

    def take(self, rows: np.ndarray) -> Sentences:
        """Those of these rows."""
        return Sentences([self.texts[row] for row in rows], self.labels[rows])


def read_sentences(archive: Path) -> Sentences:
    """All sentences of the archive, which are written in Latin-1."""
    texts: list[str] = []
    labels: list[int] = []
    with zipfile.ZipFile(archive) as opened:
        for member, label in PARTS.items():
            lines = [line.strip() for line in opened.read(member).decode("latin-1").splitlines()]
            texts += lines
            labels += [label] * len(lines)
    return Sentences(texts, np.array(labels, np.int64))


def split_sentences(sentences: Sentences) -> tuple[Sentences, Sentences, np.ndarray]:
    """The training sentences, the shipped ones, and the split of each shipped one; stratified, none in two."""
    labels = sentences.labels
    sizes = (CALIBRATION_SAMPLES, EVALUATION_SAMPLES, HOLDOUT_SAMPLES)
    train, rest = train_test_split(np.arange(len(labels)), test_size=sum(sizes), stratify=labels, random_state=SEED)
    used, held = train_test_split(rest, test_size=sizes[2], stratify=labels[rest], random_state=SEED)
    calibration, evaluation = train_test_split(used, test_size=sizes[1], stratify=labels[used], random_state=SEED)
    split = np.repeat(np.arange(3, dtype=np.int8), sizes)
    return sentences.take(train), sentences.take(np.concatenate([calibration, evaluation, held])), split


def make_subjectivity_text(archive: Path) -> None:
    """Trains tokenizer, network and baseline, exports, writes the data and says how right each is on holdout."""
    import torch  # only samples that are trained need it

    random.seed(SEED)
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(mode=True)
    torch.set_num_threads(1)
    train, shipped, split = split_sentences(read_sentences(archive))
    tokenizer = kept_tokenizer() or train_tokenizer(train.texts)
    arrays = encode(tokenizer, shipped.texts) | {"y": shipped.labels, "__split__": split}
    write_data(NAME, arrays)
    write_texts(tokenizer, shipped)
    network = build_network()
    tokenizer.enable_truncation(MAX_TOKENS)
    train_network(network, [encoding.ids for encoding in tokenizer.encode_batch(train.texts)], train.labels)
    target = HERE / f"{NAME}.onnx"
    export_network(network, target)
    held = split == 2
    print(f"linear baseline: accuracy {baseline_accuracy(train, shipped.take(np.flatnonzero(held))):.4f} on holdout")
    session = ort.InferenceSession(target, providers=["CPUExecutionProvider"])
    for name, number in (("calibration", 0), ("evaluation", 1), ("holdout", 2)):
        chosen = split == number
        feeds = {key: arrays[key][chosen] for key in ("input_ids", "attention_mask")}
        right = session.run(["logits"], feeds)[0].argmax(1) == arrays["y"][chosen]
        print(f"{name}: accuracy {right.mean():.4f} of {chosen.sum()}")
    print(f"{target.name}: {target.stat().st_size} bytes")


def baseline_accuracy(train: Sentences, held: Sentences) -> float:
    """What a linear model reaches: logistic regression on TF-IDF of words and pairs of words."""
    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), token_pattern=WORD), LogisticRegression(C=10, max_iter=1000)
    )
    model.fit(train.texts, train.labels)
    return float(model.score(held.texts, held.labels))


def kept_tokenizer() -> Tokenizer | None:
    """The tokenizer that is there: its trainer settles ties by chance, a new one would not be quite the same."""
    from tokenizers import Tokenizer

    path = HERE / "data" / NAME / "tokenizer.json"
    return Tokenizer.from_file(str(path)) if path.is_file() else None


def train_tokenizer(texts: list[str]) -> Tokenizer:
    """A WordPiece vocabulary of these sentences, lower case, without accents."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token=SPECIAL[1]))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=list(SPECIAL), show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.enable_truncation(SAMPLE_TOKENS)
    return tokenizer


def write_texts(tokenizer: Tokenizer, shipped: Sentences) -> None:
    """Writes data/subjectivity-text/: the tokenizer, and what the shipped ids say, as a table."""
    folder = HERE / "data" / NAME
    folder.mkdir(exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    with (folder / "sentences.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("text", "label"))
        table.writerows(zip(shipped.texts, shipped.labels.tolist(), strict=True))


def encode(tokenizer: Tokenizer, texts: list[str]) -> dict[str, np.ndarray]:
    """Ids and mask, int64 [N, SAMPLE_TOKENS]: longer sentences are cut, shorter ones padded."""
    rows = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    return dict(zip(("input_ids", "attention_mask"), pad(rows, SAMPLE_TOKENS), strict=True))


def pad(rows: list[list[int]], length: int) -> tuple[np.ndarray, np.ndarray]:
    """Ids and mask of these rows, int64 [len(rows), length]."""
    ids = np.full((len(rows), length), PAD_ID, np.int64)
    for row, tokens in enumerate(rows):
        ids[row, : len(tokens)] = tokens
    return ids, (ids != PAD_ID).astype(np.int64)


def build_network() -> nn.Module:
    """Embeddings, encoder layers that normalise first, mean over the real tokens, linear."""
    import torch
    from torch import nn

    class Attention(nn.Module):
        """Each token looks at the others; `bias` [B, 1, 1, T] hides padding."""

        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.LayerNorm(WIDTH)
            self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
            self.output = nn.Linear(WIDTH, WIDTH)
            self.dropout = nn.Dropout(DROPOUT)

        def forward(self, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
            batch, tokens, _ = x.shape
            normed = self.norm(x)
            query, key, value = (
                linear(normed).reshape(batch, tokens, HEADS, WIDTH // HEADS).transpose(1, 2)
                for linear in (self.query, self.key, self.value)
            )
            scores = query @ key.transpose(2, 3) / math.sqrt(WIDTH // HEADS) + bias
            mixed = (torch.softmax(scores, -1) @ value).transpose(1, 2).reshape(batch, tokens, WIDTH)
            return self.dropout(self.output(mixed))

    class FeedForward(nn.Module):
        """Each token by itself: wide, GELU, narrow again."""

        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.LayerNorm(WIDTH)
            self.up, self.gelu, self.down = nn.Linear(WIDTH, INNER_WIDTH), nn.GELU(), nn.Linear(INNER_WIDTH, WIDTH)
            self.dropout = nn.Dropout(DROPOUT)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.dropout(self.down(self.dropout(self.gelu(self.up(self.norm(x))))))

    class Layer(nn.Module):
        """Attention and feed-forward, each added to what comes in."""

        def __init__(self) -> None:
            super().__init__()
            self.attention, self.feed = Attention(), FeedForward()

        def forward(self, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
            x = x + self.attention(x, bias)
            return x + self.feed(x)

    return _assemble(Layer)


def _assemble(layer: type[nn.Module]) -> nn.Module:
    import torch
    from torch import nn

    class Embeddings(nn.Module):
        """Ids [B, T] -> the token's vector plus that of its position."""

        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(VOCABULARY, WIDTH)
            nn.init.normal_(self.tokens.weight, std=0.1)
            self.positions = nn.Parameter(torch.randn(MAX_TOKENS, WIDTH) * 0.02)
            self.dropout = nn.Dropout(DROPOUT)

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return self.dropout(self.tokens(ids) + self.positions[: ids.shape[1]])

    class Pool(nn.Module):
        """Mean over the real tokens: [B, T, D] -> [B, D]."""

        def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            weights = mask[:, :, None]
            return (x * weights).sum(1) / weights.sum(1)

    class TextNetwork(nn.Module):
        """Ids and mask, both [B, T] -> logits [B, 2]."""

        def __init__(self) -> None:
            super().__init__()
            self.embeddings = Embeddings()
            for number in range(1, LAYERS + 1):
                self.add_module(f"layer{number}", layer())
            self.norm, self.pool = nn.LayerNorm(WIDTH), Pool()
            self.dropout, self.head = nn.Dropout(DROPOUT), nn.Linear(WIDTH, len(PARTS))

        def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            real = mask.to(torch.float32)
            bias = (1 - real)[:, None, None, :] * MASKED
            x = self.embeddings(ids)
            for number in range(1, LAYERS + 1):
                x = getattr(self, f"layer{number}")(x, bias)
            return self.head(self.dropout(self.pool(self.norm(x), real)))

    return TextNetwork()


def batches(rows: list[list[int]], chance: np.random.Generator) -> list[np.ndarray]:
    """Rows in batches of like length, in random order: less padding to compute."""
    order = chance.permutation(len(rows))
    together: list[np.ndarray] = []
    for start in range(0, len(order), 16 * BATCH):
        chunk = np.array(sorted(order[start : start + 16 * BATCH], key=lambda row: len(rows[row])))
        together += [chunk[at : at + BATCH] for at in range(0, len(chunk), BATCH)]
    return [together[index] for index in chance.permutation(len(together))]


def train_network(network: nn.Module, rows: list[list[int]], labels: np.ndarray) -> None:
    """Trains in place: AdamW, one learning-rate cycle; in each pass other words are masked."""
    import torch
    from torch.nn import functional, utils

    chance, generator = np.random.default_rng(SEED), torch.Generator().manual_seed(SEED)
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=PEAK_LEARNING_RATE, weight_decay=WEIGHT_DECAY, betas=(0.9, 0.98)
    )
    steps = EPOCHS * len(batches(rows, np.random.default_rng(SEED)))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK_LEARNING_RATE, total_steps=steps, pct_start=WARM_UP)
    network.train()
    for epoch in range(EPOCHS):
        losses = []
        for chosen in batches(rows, chance):
            length = max(len(rows[row]) for row in chosen)
            ids, mask = map(torch.from_numpy, pad([rows[row] for row in chosen], length))
            hidden = (torch.rand(ids.shape, generator=generator) < MASKED_TOKENS) & (mask > 0)
            logits = network(torch.where(hidden, MASK_ID, ids), mask)
            loss = functional.cross_entropy(logits, torch.from_numpy(labels[chosen]), label_smoothing=LABEL_SMOOTHING)
            optimizer.zero_grad()
            loss.backward()
            utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {np.mean(losses):.4f}", flush=True)
    network.eval()


def export_network(network: nn.Module, path: Path) -> None:
    """Writes the ONNX file: batch and sequence dynamic, weights named after their module, plain reshapes."""
    import torch

    example = torch.ones(2, 8, dtype=torch.int64)
    names = ("input_ids", "attention_mask")
    export(network, (example, example), path, inputs=names, outputs=("logits",), axes=("batch", "sequence"))
    model = ir.load(path)
    for node in model.graph:
        if node.op_type == "MatMul" and node.inputs[1] is not None and node.inputs[1].is_initializer():
            node.inputs[1].name = f"{module_of(node)}.weight"
        if node.op_type == "Reshape" and "/attention/" in (node.name or ""):
            _keep_leading_axes(model.graph, node)
    RemoveUnusedNodesPass()(model)
    save(model, path)


def _keep_leading_axes(graph: ir.Graph, node: ir.Node) -> None:
    """Reshapes to [batch, sequence, heads, width of one], or back, by a constant in which 0 keeps an axis."""
    producer = node.inputs[0].producer() if node.inputs[0] is not None else None
    joins = producer is not None and producer.op_type == "Transpose"
    name, sizes = ("join_heads", [0, 0, WIDTH]) if joins else ("split_heads", [0, 0, HEADS, WIDTH // HEADS])
    if name not in graph.initializers:
        graph.register_initializer(ir.Value(name=name, const_value=ir.tensor(np.array(sizes, np.int64), name=name)))
    node.replace_input_with(1, graph.initializers[name])
