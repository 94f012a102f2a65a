# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Models that people have: Hugging Face's folders, their tokenizers, adapters,
and texts that go on.

    model = neap.models.from_pretrained("SmolLM-135M")
    words = neap.models.Tokenizer("SmolLM-135M/tokenizer.json")
    ids, = neap.models.generate(model, [words.encode("To be")], max_tokens=20)
    print(words.decode(ids))
"""

from neap._core._models import (Adapter, Tokenizer, add_adapter,  # noqa: F401
                                from_pretrained, generate, load_adapter,
                                merge_adapter, read_stop_tokens, save_adapter,
                                trainable)
