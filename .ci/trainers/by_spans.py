"""Renderings as text: the spans of the assistant's words become a mask, as a trainer makes one."""

from byte_tokens import tokenizer


def check(export, ledger):
    words = tokenizer(["</s>"])
    for part, records in export.records.items():
        where = f"{export.name} {part}"
        for record in ledger.some(records):
            text, spans = record["text"], record["assistant_spans"]
            raw = text.encode()
            ends = [bound for span in spans for bound in (span["start"], span["end"])]
            ledger.expect(f"{where}: spans in order and inside", ends == sorted(ends) and ends[-1:] <= [len(raw)], True)
            # A token is a byte here, so that the mask must give back exactly the bytes between the spans' ends.
            tokens = words(text, return_offsets_mapping=True, add_special_tokens=False)
            kept, at = [], 0
            for token in tokens["input_ids"]:
                if any(span["start"] <= at < span["end"] for span in spans):
                    kept.append(token)
                at += len(words.backend_tokenizer.id_to_token(token))
            said = b"".join(raw[span["start"] : span["end"]] for span in spans)
            ledger.expect(f"{where}: what is kept", words.decode(kept), said.decode())
            ledger.expect(f"{where}: the assistant is silent", bool(said), True)
        ledger.saw("spans", len(ledger.some(records)))
