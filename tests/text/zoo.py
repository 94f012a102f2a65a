"""Tokenizers of every kind that neap/text reads, made and trained by Hugging
Face's library `tokenizers`, and texts that are hard for them."""

import functools
import json
import random
import string
import unicodedata

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models,
                        normalizers, pre_tokenizers, processors, trainers)

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
          r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}"
         r"\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}"
         r"\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll"
         r"|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
SPACE = "\u2581"
STRIP = normalizers.StripAccents()
LOWER = normalizers.Lowercase()
PUNCTUATION = pre_tokenizers.Punctuation("isolated")
ACCENTS = normalizers.BertNormalizer(False, False, True, False)
CLEAN = normalizers.BertNormalizer(True, False, False, False)
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def bpe_trainer(size, special=()):
    return trainers.BpeTrainer(
        vocab_size=size, show_progress=False, special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet())


def byte_level(lines, size, *, split, special=(), **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer = split
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(lines, bpe_trainer(size, special))
    return tokenizer


def gpt2(lines, size):
    return byte_level(lines, size, special=["<|endoftext|>"],
                      split=pre_tokenizers.ByteLevel(add_prefix_space=False))


def by_pattern(pattern):
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def llama3(lines, size):
    start = "<|begin_of_text|>"
    tokenizer = byte_level(lines, size, split=by_pattern(LLAMA3),
                           special=[start], ignore_merges=True)
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        processors.TemplateProcessing(
            single=f"{start} $A", pair=f"{start} $A {start}:1 $B:1",
            special_tokens=[(start, 0)])])
    return tokenizer


def qwen2(lines, size):
    tokenizer = byte_level(lines, size, split=by_pattern(QWEN2))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    return tokenizer


def o200k(lines, size):
    return byte_level(lines, size, split=by_pattern(O200K))


def fallback(lines, size, **model):
    """A model with a token for each byte, as SentencePiece's are converted."""
    trained = Tokenizer(models.BPE())
    trained.normalizer = normalizers.Sequence([
        normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)])
    trained.pre_tokenizer = pre_tokenizers.Split(SPACE, "merged_with_next")
    special = ["<unk>", "<s>", "</s>"] + BYTES
    trained.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, show_progress=False,
        limit_alphabet=60))
    content = json.loads(trained.to_str())["model"]
    merges = [tuple(pair if isinstance(pair, list) else pair.split(" "))
              for pair in content["merges"]]
    tokenizer = Tokenizer(models.BPE(content["vocab"], merges,
                                     unk_token="<unk>", **model))
    tokenizer.add_special_tokens(special[:3])
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace(SPACE, " "), decoders.ByteFallback(),
        decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    return tokenizer


def llama2(lines, size):
    tokenizer = fallback(lines, size, byte_fallback=True, fuse_unk=True)
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)])
    return tokenizer


def mistral(lines, size):
    tokenizer = fallback(lines, size, byte_fallback=True, fuse_unk=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(
        prepend_scheme="first", split=False)
    return tokenizer


def metaspace(lines, size, fuse=True):
    """Without bytes: unknown characters are one token, or one each."""
    tokenizer = fallback(lines, size, fuse_unk=fuse)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def unfused(lines, size):
    return metaspace(lines, size, fuse=False)


def bert(lines, size, **normal):
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]",
                                           max_input_chars_per_word=20))
    tokenizer.normalizer = normalizers.BertNormalizer(**normal)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(lines, trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=special, show_progress=False,
        limit_alphabet=80))
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return tokenizer


def bert_cased(lines, size):
    tokenizer = bert(lines, size, lowercase=False, strip_accents=False)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3),
                                                         ("[CLS]", 2))
    return tokenizer


def roberta(lines, size):
    tokenizer = byte_level(
        lines, size, special=["<s>", "<pad>", "</s>"],
        split=pre_tokenizers.ByteLevel(add_prefix_space=True))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2),
                                                            ("<s>", 0))
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    return tokenizer


def mixed(lines, size):
    tokenizer = byte_level(
        lines, size, split=pre_tokenizers.Sequence([
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.Split("-", "merged_with_previous"),
            pre_tokenizers.Split(Regex(r"\w+"), "contiguous", invert=True),
            pre_tokenizers.Punctuation("contiguous"),
            pre_tokenizers.ByteLevel(add_prefix_space=False)]))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.NFKC(), normalizers.Strip(),
        normalizers.Replace(Regex(r"\s{2,}"), " ")])
    tokenizer.add_tokens([
        AddedToken("lord", single_word=True, normalized=True),
        AddedToken("Unto", rstrip=True, lstrip=True, normalized=False),
        AddedToken("fish", normalized=True), AddedToken("\u00e9t\u00e9")])
    return tokenizer


def words(lines, size):
    tokenizer = byte_level(
        lines, size, split=pre_tokenizers.Sequence([
            pre_tokenizers.Whitespace(), pre_tokenizers.ByteLevel(
                add_prefix_space=True, use_regex=False)]))
    tokenizer.normalizer = normalizers.NFD()
    return tokenizer


ALL = [gpt2, llama3, qwen2, o200k, llama2, mistral, metaspace, unfused, bert,
       bert_cased, roberta, mixed, words]

# Spaces of all kinds, marks, joined and directed characters, jamo, and more.
HARD = [
    "", " ", "  ", "\t", "\n", "\r\n", " \n \n", "a", " a", "a ", "  a  b   c    ",
    "\u0000", "a\u0000b", "\ufffd", "a\ufffd\ufffdb", "\ufeffmark", "\u200b\u200c\u200d",
    "\u0085\u00a0\u1680\u180e\u2000\u2001\u200a\u2028\u2029\u202f\u205f\u3000x",
    "e\u0301 \u00e9 e\u0323\u0301 e\u0301\u0323", "\u0300\u0301\u0316a\u0316\u0300",
    "\uac00 \u1100\u1161 \u1100\u1161\u11a8 \u1161\u11a8", "\ud55c\uad6d\uc5b4",
    "\u4e2d\u6587 \u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8", "\U00020000\U0002a6df\uf900",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u202e\u202c", "\u0939\u093f\u0928\u094d\u0926\u0940",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd",
    "\u0130stanbul \u0131 I\u0307 \u017f \u1e9e \u00df SS", "\ufb01 \ufb03 \u2460 \u00bd \u00b2 \u2167 \u216f",
    "'s 'S '\u017f 'T 'LL 'll 'Ve don't DON'T we'd", "0123456789 1,234.5 \u0663\u0664 \u0967\u0968",
    "\uff21\uff42\uff43 \uff11\uff12 \uff76\uff9e", "\u2126 \u212b \u1e69 s\u0323\u0307 s\u0307\u0323",
    "a" * 300, " " * 300, "\n" * 70, "ab" * 150, "\u00e9" * 100, "e" + "\u0301\u0316" * 60,
    "!?.,;:-_()[]{}<>@#$%^&*+=|\\/~`\"'", "\u2014\u2013\u2026\u201c\u201d\u2018\u2019\u00ab\u00bb\u3001\u3002",
    "<s>", "</s> <unk>", "a<s>b", "[CLS] [MASK][SEP]", " <mask> <mask>x", "<|endoftext|> <|im_start|>",
    "<|begin_of_text|><|begin_of_text|>", "lord lords Lord overlord lord. lord", "  Unto  the  Unto",
    "\ufb01sh fish \u00e9t\u00e9 e\u0301te\u0301", "<0x41><0x0A>", "\u2581\u2581a \u2581b", "\u0120a \u010a",
    "snake_case camelCase HTMLParser x86_64 C++20", "https://example.org/a?b=c&d=%20#e",
    "if (x < 3) {\n\treturn y->z[0] + 1;\n}\n\n\n", "\u24b6\u24e9 \U0001f130 \u2160 \u203f_\u2040",
    "\U0010ffff \ue000 \ufdd0 \U000e0001", "\u3164 \uffa0 \u115f", "\u00ad \u2060 \u061c", "\u0338\u0338<\u0338=\u0338",
    "do not , i ' m n't .", "a\u0308\u0304 \u1e7b \u01d6", "x" * 19, "x" * 20, "x" * 21, "\u4e00" * 25,
]


def views(char):
    """The library's view of a character, and that of Python's Unicode."""
    kind = unicodedata.category(char)
    apart = unicodedata.normalize("NFD", char)
    forms = ("NFC", "NFD", "NFKC", "NFKD")
    yield kind != "Cn", True
    yield STRIP.normalize_str(char) == "", kind[0] == "M"
    yield ACCENTS.normalize_str(char) == "", all(
        unicodedata.category(part) == "Mn" for part in apart)
    yield len(PUNCTUATION.pre_tokenize_str(f"a{char}a")) == 3, (
        kind[0] == "P" or char in string.punctuation)
    yield CLEAN.normalize_str(char) == "", (
        kind in ("Cc", "Cf", "Co") and char not in "\t\n\r" or char == "\ufffd")
    yield LOWER.normalize_str(char), char.lower()
    for form in forms:
        yield (getattr(normalizers, form)().normalize_str(char),
               unicodedata.normalize(form, char))


@functools.cache
def is_agreed(char):
    """The library's parts have tables of Unicode 8 to 17. Characters that these
    see in different ways are left out."""
    return all(one == other for one, other in views(char))


def points(rng):
    """A character that is agreed upon."""
    while not is_agreed(char := any_point(rng)):
        pass
    return char


def any_point(rng):
    """A character: ASCII as often as not, then of blocks that are difficult,
    then any."""
    kind = rng.randrange(12)
    if kind < 4:
        return chr(rng.randrange(0x20, 0x7f))
    if kind == 4:
        return rng.choice(" \n\r\t\x0b\x0c\x00\x7f\x85\u00a0\u1680\u180e\u2000\u2003"
                          "\u2028\u2029\u202f\u205f\u3000\u200b\ufeff")
    if kind == 5:
        return chr(rng.randrange(0x300, 0x370))
    if kind == 6:
        return chr(rng.choice([0x1100, 0x1161, 0x11a8, 0xac00, 0xac01]) + rng.randrange(20))
    if kind == 7:
        return rng.choice("\U0001f469\u200d\ufe0f\U0001f3fd\U0001f1e6'sS\u017f\u0130\u00df")
    if kind == 8:
        return chr(rng.randrange(0x80, 0x600))
    if kind == 9:
        return chr(rng.randrange(0x600, 0x2400))
    if kind == 10:
        return chr(rng.randrange(0x2400, 0xd800))
    return chr(rng.choice([rng.randrange(0xe000, 0x10000), rng.randrange(0x10000, 0x20000),
                           rng.randrange(0x20000, 0x30000), rng.randrange(0x30000, 0x110000)]))


def random_lines(count, seed, longest=40):
    rng = random.Random(seed)
    pool = "the quick lord unto him 's ll <s> [CLS] 12 345".split(" ")
    lines = []
    for _ in range(count):
        parts = [rng.choice(pool) if rng.random() < 0.15 else points(rng)
                 for _ in range(rng.randrange(longest))]
        lines.append("".join(parts).replace("\n", "\r"))
    return lines


HARD_LINES = [line.replace("\n", "\r") for line in HARD]  # one line each
