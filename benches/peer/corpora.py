"""The steps of a corpus by datatrove: filter, MinHash duplicates, decontamination, division, JSON lines.

    python3 benches/peer/corpora.py CHATS EVALUATIONS WORK

CHATS are requests of OpenAI's API (JSON lines), EVALUATIONS rows with `question` and `answer`. One process; the library's
own settings, and runs of 13 words. The index of the evaluations is made by the filter's own functions: the library's indexer needs lighteval.
"""

import hashlib
import json
import pathlib
import sys

import numpy
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.decont.n_grams import NGramsDecontConfig, NGramsDecontFilter
from datatrove.pipeline.dedup.minhash import (
    MinhashConfig,
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.filters import LambdaFilter
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
from datatrove.utils.text import ngrams, simplify_text

CONFIG = NGramsDecontConfig(n_grams=13, find_query_ngrams=True, find_overlap_ngrams=False)


def document(reader, data, path, number):
    said = [str(message.get("content") or "") for message in data["messages"]]
    return {"text": "\n".join(said), "id": f"{path}/{number}", "metadata": {"messages": data["messages"]}}


def is_kept(document):
    turns = sum(message["role"] in ("user", "assistant") for message in document.metadata["messages"])
    return turns >= 2 and len(document.text) <= 100_000


def row(writer, document):
    part = int.from_bytes(hashlib.sha256(document.id.encode()).digest()[:4]) / 2**32
    return {"messages": document.metadata["messages"], "part": "test" if part < 0.05 else "train"}


def index(evaluations, folder):
    """The hashes that the filter looks up, of the runs that it makes of a text."""
    step = NGramsDecontFilter(str(folder), CONFIG)
    hashes = set()
    with open(evaluations, encoding="utf-8") as lines:
        for line in lines:
            for text in json.loads(line).values():
                words = step.tokenizer.word_tokenize(simplify_text(text, CONFIG.norm_config))
                hashes.update(step.hash_func(" ".join(run)) for run in ngrams(words, CONFIG.n_grams))
    numpy.array(list(hashes), dtype=CONFIG.hash_config.np_descr).tofile(folder / "evaluations.index.hashes")


def main():
    chats, evaluations, work = map(pathlib.Path, sys.argv[1:4])
    folder = {name: work / name for name in ("filtered", "signatures", "buckets", "removals", "index", "rows", "logs")}
    folder["index"].mkdir(parents=True)
    paths = {name: str(path) for name, path in folder.items()}
    index(evaluations, folder["index"])

    def executed(step, *pipeline, tasks=1):
        LocalPipelineExecutor(list(pipeline), tasks=tasks, workers=1, logging_dir=str(folder["logs"] / step)).run()

    read = JsonlReader(str(chats.parent), glob_pattern=chats.name, adapter=document)
    again = JsonlReader(paths["filtered"], glob_pattern="*.jsonl")
    written = JsonlWriter(paths["filtered"], output_filename="${rank}.jsonl", compression=None)
    executed("filter", read, LambdaFilter(is_kept), written)
    executed("signatures", again, MinhashDedupSignature(paths["signatures"]))
    executed("buckets", MinhashDedupBuckets(paths["signatures"], paths["buckets"]), tasks=MinhashConfig().num_buckets)
    executed("clusters", MinhashDedupCluster(paths["buckets"], paths["removals"]))
    divided = JsonlWriter(paths["rows"], output_filename="${rank}.jsonl", compression=None, adapter=row)
    executed("rest", again, MinhashDedupFilter(paths["removals"]), NGramsDecontFilter(paths["index"], CONFIG), divided)


if __name__ == "__main__":
    main()
