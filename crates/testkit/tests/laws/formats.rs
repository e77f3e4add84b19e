//! Formats from end to end: the rules and vectors in the systems' documents, recognition, linking, writing and reading back.

mod containers;
mod documents;
mod gryag_rows;
mod gryag_vectors;
mod jaibber_round_trip;
mod links;
mod lists;
mod message_vectors;
mod planted;
mod recognition;
mod round_trip;
mod suna_rows_again;
mod suna_vectors;
mod tzurot_scenarios;
