# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
from neap._core._models import (
    Adapter as Adapter,
    Tokenizer as Tokenizer,
    add_adapter as add_adapter,
    from_pretrained as from_pretrained,
    generate as generate,
    load_adapter as load_adapter,
    merge_adapter as merge_adapter,
    read_stop_tokens as read_stop_tokens,
    save_adapter as save_adapter,
    trainable as trainable,
)
