//! RDF texts to facts, and back.
//!
//! A [`Reader`](reader::Reader) walks one document, fact by fact: line formats through our own
//! scanner (`lines`, `statement`), because a line that is read as it stands needs no copy, and
//! because a bad line must not hide the next; the other formats through the oxigraph crates
//! (`document`). A [`Writer`](writer::Writer) goes the other way. Every term comes out as its canonical N-Triples text, the one that identifies it
//! everywhere else in Ebbtide. Streams of LARS atoms are read by their language, plain ones here (`atoms`).

pub mod atoms;
pub mod document;
pub mod format;
pub mod input;
pub mod instant;
pub mod iri;
pub mod json_place;
pub mod label;
pub mod lines;
pub mod place;
pub mod reader;
pub mod statement;
pub mod text;
pub mod timed;
pub mod writer;
