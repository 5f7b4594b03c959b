//! The dictionary: term texts to dense 32-bit ids, and back.
//!
//! Shape: `texts[id]`, `uses[id]`, and a hash table of ids by text. A term is its N-Triples text.
//! Invariant: an id stays with its text while anything uses it; an unused id is given back by the
//! next `sweep`, not before, so that what a tick handed out can still be read until the next tick.

use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::{Entry, HashTable};
use std::hash::BuildHasher;

use crate::ids::TermId;

/// Interned terms, counted by use.
#[derive(Default)]
pub struct Dictionary {
    texts: Vec<Option<Box<str>>>,
    uses: Vec<u32>,
    ids: HashTable<TermId>,
    hasher: DefaultHashBuilder,
    unused: Vec<TermId>,
    idle: Vec<TermId>,
    bytes: usize,
}

impl Dictionary {
    /// The id of a text, given one if it has none. Retain it, or the next sweep takes it back.
    pub fn intern(&mut self, text: &str) -> TermId {
        let Self { texts, uses, ids, hasher, unused, idle, bytes } = self;
        let hash = hasher.hash_one(text);
        let same = |id: &TermId| texts[id.index()].as_deref() == Some(text);
        let rehash = |id: &TermId| hasher.hash_one(texts[id.index()].as_deref().unwrap_or(""));
        match ids.entry(hash, same, rehash) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let id = unused.pop().unwrap_or_else(|| TermId::at(uses.len()));
                entry.insert(id);
                *bytes += text.len();
                if id.index() == uses.len() {
                    texts.push(Some(text.into()));
                    uses.push(0);
                } else {
                    texts[id.index()] = Some(text.into());
                }
                idle.push(id);
                id
            }
        }
    }

    /// The id of a text, if it has one.
    pub fn lookup(&self, text: &str) -> Option<TermId> {
        let hash = self.hasher.hash_one(text);
        self.ids.find(hash, |id| self.text(*id) == text).copied()
    }

    /// The text of a term in use.
    pub fn text(&self, id: TermId) -> &str {
        self.texts[id.index()].as_deref().unwrap_or("")
    }

    /// One more use.
    pub fn retain(&mut self, id: TermId) {
        self.uses[id.index()] += 1;
    }

    /// One use less.
    pub fn release(&mut self, id: TermId) {
        let uses = &mut self.uses[id.index()];
        *uses -= 1;
        if *uses == 0 {
            self.idle.push(id);
        }
    }

    /// Give back the ids that nothing uses.
    pub fn sweep(&mut self) {
        let mut idle = std::mem::take(&mut self.idle);
        for id in idle.drain(..) {
            if self.uses[id.index()] > 0 {
                continue;
            }
            // An id may be idle more than once; the first time took its text away.
            let Some(text) = self.texts[id.index()].take() else {
                continue;
            };
            let hash = self.hasher.hash_one(&*text);
            if let Ok(entry) = self.ids.find_entry(hash, |other| *other == id) {
                entry.remove();
            }
            self.bytes -= text.len();
            self.unused.push(id);
        }
        self.idle = idle;
    }

    /// How many terms have an id.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether no term has an id.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// An estimate of the memory held.
    pub fn bytes(&self) -> usize {
        self.bytes + self.texts.capacity() * 20 + self.ids.capacity() * 5
    }

    /// Every term with its uses, by id, for a snapshot.
    pub fn entries(&self) -> impl Iterator<Item = (TermId, &str, u32)> {
        (0..self.uses.len()).filter_map(|position| {
            let id = TermId::at(position);
            self.texts[position].as_deref().map(|text| (id, text, self.uses[position]))
        })
    }

    /// A dictionary with exactly these entries.
    pub fn restore(entries: impl IntoIterator<Item = (TermId, Box<str>, u32)>) -> Self {
        let mut dictionary = Self::default();
        for (id, text, uses) in entries {
            while dictionary.uses.len() < id.index() {
                dictionary.unused.push(TermId::at(dictionary.uses.len()));
                dictionary.texts.push(None);
                dictionary.uses.push(0);
            }
            dictionary.bytes += text.len();
            dictionary.uses.push(uses);
            dictionary.texts.push(Some(text));
            if uses == 0 {
                dictionary.idle.push(id);
            }
        }
        let Self { texts, ids, hasher, .. } = &mut dictionary;
        let hash_of = |id: &TermId| hasher.hash_one(texts[id.index()].as_deref().unwrap_or(""));
        for id in (0..texts.len()).map(TermId::at) {
            if texts[id.index()].is_some() {
                ids.insert_unique(hash_of(&id), id, hash_of);
            }
        }
        dictionary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unused_id_is_given_back() {
        let mut dictionary = Dictionary::default();
        let a = dictionary.intern("<a>");
        dictionary.retain(a);
        dictionary.sweep();
        assert_eq!(dictionary.intern("<a>"), a);
        dictionary.release(a);
        assert_eq!(dictionary.text(a), "<a>", "readable until the sweep");
        dictionary.sweep();
        assert_eq!(dictionary.lookup("<a>"), None);
        assert_eq!(dictionary.intern("<b>"), a, "the id is used again");
    }

    #[test]
    fn an_id_reused_before_the_sweep_stays() {
        let mut dictionary = Dictionary::default();
        let a = dictionary.intern("<a>");
        dictionary.retain(a);
        dictionary.release(a);
        dictionary.retain(a);
        dictionary.sweep();
        assert_eq!(dictionary.lookup("<a>"), Some(a));
    }

    #[test]
    fn restored_ids_are_the_same() {
        let mut dictionary = Dictionary::default();
        let ids: Vec<TermId> = ["<a>", "<b>", "<c>"].iter().map(|t| dictionary.intern(t)).collect();
        dictionary.retain(ids[0]);
        dictionary.retain(ids[2]);
        dictionary.sweep();
        let entries: Vec<_> = dictionary.entries().map(|(i, t, u)| (i, t.into(), u)).collect();
        let mut again = Dictionary::restore(entries);
        assert_eq!(again.lookup("<c>"), Some(ids[2]));
        assert_eq!(again.intern("<d>"), ids[1]);
    }
}
