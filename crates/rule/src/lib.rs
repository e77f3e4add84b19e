//! rule
