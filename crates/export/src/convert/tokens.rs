//! The columns of token counts that an export reads.

use chatmill_dataset::Dataset;

use crate::error::ExportError;
use crate::request::ExportRequest;

/// The column of token counts that `--max-tokens` and the card read.
pub(crate) fn tokens_column(
    dataset: &Dataset,
    request: &ExportRequest,
) -> Result<Option<String>, ExportError> {
    let Some(most) = &request.filters.max_tokens else {
        // The card shows lengths.
        return Ok(dataset
            .encodings()
            .first()
            .map(|encoding| format!("tokens_{encoding}")));
    };
    if dataset.encodings().contains(&most.encoding) {
        return Ok(Some(format!("tokens_{}", most.encoding)));
    }
    let step = match dataset.encodings() {
        [] => {
            "the run counted in no encoding; name the encoding in `count.encodings` and run the pipeline again".to_owned()
        }
        [first, ..] => format!(
            "the run counted in {}: use for example `--max-tokens {}@{first}`",
            dataset.encodings().join(", "),
            most.tokens
        ),
    };
    Err(ExportError::request(
        format!("the dataset holds no counts in the encoding `{}`", most.encoding),
        step,
    ))
}
