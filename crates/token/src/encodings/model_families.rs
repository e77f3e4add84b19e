//! Families of open models, and the file of each that a pipeline gives to count as they do.

use crate::encoding::about::Counting;

/// Models that read the same tokens, or files of the same kind.
#[derive(Clone, Copy, Debug)]
pub struct ModelFamily {
    /// The names of the models.
    pub models: &'static str,
    /// The file to give.
    pub file: &'static str,
    /// The way in which texts are counted with it.
    pub counting: Counting,
}

const JSON: &str = "tokenizer.json";
const JSON_OR_PIECES: &str = "tokenizer.json or tokenizer.model";

/// The families, by name.
pub static MODEL_FAMILIES: &[ModelFamily] = &[
    once("Command R, Command A", JSON),
    once("DeepSeek V3, R1", JSON),
    ModelFamily {
        models: "Falcon 7B, 40B, 180B",
        file: JSON,
        counting: Counting::Whole,
    },
    once("Gemma 1, 2, 3", JSON_OR_PIECES),
    once("GLM 4", JSON),
    once("InternLM 2", "tokenizer.model"),
    once("Llama 2, Code Llama", JSON_OR_PIECES),
    once(
        "Llama 3",
        "tokenizer.json, or tokenizer.model as ranks with the pattern llama3",
    ),
    once(
        "Llama 4",
        "tokenizer.json, or tokenizer.model as ranks with the pattern o200k",
    ),
    once(
        "Mistral 7B, Mixtral",
        "tokenizer.json, tokenizer.model or tokenizer.model.v3",
    ),
    once("Mistral NeMo, Small 3, Large", "tekken.json or tokenizer.json"),
    once("OLMo, OLMo 2", JSON),
    once("Phi 3", JSON_OR_PIECES),
    once("Phi 4", JSON),
    once("Qwen 2, 2.5, 3", JSON),
    once("SmolLM, StarCoder, StarCoder 2", JSON),
    once("Yi", JSON_OR_PIECES),
];

const fn once(models: &'static str, file: &'static str) -> ModelFamily {
    ModelFamily {
        models,
        file,
        counting: Counting::Once,
    }
}
