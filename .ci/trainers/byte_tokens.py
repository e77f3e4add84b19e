"""A tokenizer with one token a byte, for templates and strategies that want one: no vocabulary has to be downloaded."""

import tokenizers
import transformers
from tokenizers import AddedToken, decoders, models, pre_tokenizers


def tokenizer(special):
    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytes_only = tokenizers.Tokenizer(models.BPE(vocab={sign: number for number, sign in enumerate(signs)}, merges=[]))
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bytes_only.decoder = decoders.ByteLevel()
    bytes_only.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=bytes_only, bos_token="<s>", eos_token=special[0])
