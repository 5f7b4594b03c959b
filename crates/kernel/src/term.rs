//! The dictionary: term texts to dense 32-bit ids, and back.
//!
//! Shape: by id, the text with its hash, the whole number it denotes, its kind and its uses; and places
//! of ids by the hashes of texts. A term is its N-Triples text; a short one is kept in place (`text.rs`).
//! Invariant: an id stays with its text while anything uses it; an unused id is given back by the
//! next `sweep`, not before, so that what a tick handed out can still be read until the next tick,
//! or while the dictionary is held, until that ends.

use hashbrown::DefaultHashBuilder;
use std::hash::{BuildHasher, Hasher};

use crate::ids::TermId;
use crate::places::{NOTHING, Places};
use crate::text::Text;
use crate::value::{Kind, whole_number};

/// How many texts are looked for at once.
const TOGETHER: usize = 32;

/// From this many terms on their places are not in the nearest caches.
const LARGE: usize = 1 << 15;

/// Beside the uses of a term: it is in the list of those that may be idle.
const LISTED: u32 = 1 << 31;

/// Stands for a term that is no whole number, or this one.
const NO_NUMBER: i64 = i64::MIN;

/// A term: its text, which is empty while the id is not in use, with what is asked of it again and again.
struct Term {
    text: Text,
    hash: u64,
    number: i64,
}

impl Term {
    /// That of an id that is not in use.
    const NONE: Self = Self { text: Text::EMPTY, hash: 0, number: NO_NUMBER };

    /// Become another term; its kind.
    #[inline(always)]
    fn set(&mut self, text: &str, hash: u64) -> Kind {
        self.hash = hash;
        self.text.put(text);
        let (number, kind) = match text.as_bytes().first() {
            Some(b'"') => (whole_number(text), Kind::of(text)),
            Some(b'_') => (None, Kind::Blank),
            _ => (None, Kind::Iri),
        };
        self.number = number.unwrap_or(NO_NUMBER);
        kind
    }

    fn has(&self, text: &str) -> bool {
        self.text.bytes() == text.as_bytes()
    }
}

/// Interned terms, counted by use.
#[derive(Default)]
pub struct Dictionary {
    terms: Vec<Term>,
    /// Apart: what kind of term it is is asked of more terms than anything else.
    kinds: Vec<Kind>,
    /// How often each is used, and `LISTED`.
    uses: Vec<u32>,
    ids: Places,
    hasher: DefaultHashBuilder,
    unused: Vec<TermId>,
    /// Terms that may be idle, each of them once.
    idle: Vec<TermId>,
    bytes: usize,
    held: bool,
}

impl Dictionary {
    /// The id of a text, given one if it has none. Retain it, or the next sweep takes it back.
    #[inline]
    pub fn intern(&mut self, text: &str) -> TermId {
        self.intern_hashed(text, self.hash(text))
    }

    /// The ids of some texts, each given one if it has none. Many are looked for at once, so that the
    /// places of a large dictionary are fetched from memory side by side.
    pub fn intern_all<'t>(
        &mut self,
        mut texts: impl ExactSizeIterator<Item = &'t str>,
    ) -> Vec<TermId> {
        let count = texts.len();
        if self.ids.len() + count < LARGE {
            let mut ids = vec![TermId(0); count];
            ids.iter_mut().zip(texts).for_each(|(id, text)| *id = self.intern(text));
            return ids;
        }
        let mut ids: Vec<TermId> = Vec::with_capacity(count);
        let mut some: Vec<(u64, &str)> = Vec::with_capacity(TOGETHER);
        loop {
            some.clear();
            let hashed = |text| (self.hash(text), text);
            some.extend(texts.by_ref().take(TOGETHER).map(hashed));
            if some.is_empty() {
                return ids;
            }
            self.ids.warm(some.iter().map(|(hash, _)| *hash));
            let mut last = None;
            for one in &some {
                let id = match ids.last() {
                    Some(same) if last == Some(one) => *same,
                    _ => self.intern_hashed(one.1, one.0),
                };
                last = Some(one);
                ids.push(id);
            }
        }
    }

    /// The hash of a text: that of its bytes alone, since nothing follows them.
    #[inline]
    fn hash(&self, text: &str) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(text.as_bytes());
        hasher.finish()
    }

    #[inline]
    fn find(&self, text: &str, hash: u64) -> Option<TermId> {
        self.ids.find(hash, |id| self.terms[id as usize].has(text)).map(TermId)
    }

    /// The id of a text with this hash, given one if it has none.
    #[inline(always)]
    fn intern_hashed(&mut self, text: &str, hash: u64) -> TermId {
        if self.unused.is_empty() {
            self.make_id();
        }
        let Self { terms, ids, unused, .. } = self;
        let new = unused[unused.len() - 1];
        match ids.find_or_insert(hash, |id| terms[id as usize].has(text), new.0) {
            Some(id) => TermId(id),
            None => {
                self.take_in(new, text, hash);
                new
            }
        }
    }

    /// Have an id that is not in use.
    #[cold]
    fn make_id(&mut self) {
        let id = TermId::at(self.terms.len());
        assert!(id.0 < NOTHING, "more than 2^31 terms");
        self.terms.push(Term::NONE);
        self.kinds.push(Kind::Iri);
        self.uses.push(0);
        self.unused.push(id);
    }

    /// Give a text the id that comes next.
    #[inline(always)]
    fn take_in(&mut self, id: TermId, text: &str, hash: u64) {
        self.unused.pop();
        self.kinds[id.index()] = self.terms[id.index()].set(text, hash);
        self.bytes += text.len();
        self.uses[id.index()] = LISTED;
        self.idle.push(id);
    }

    /// Make room for so many terms more.
    pub fn reserve(&mut self, terms: usize) {
        self.ids.reserve(terms);
        self.terms.reserve(terms);
        self.kinds.reserve(terms);
        self.uses.reserve(terms);
    }

    /// The id of a text, if it has one.
    pub fn lookup(&self, text: &str) -> Option<TermId> {
        self.find(text, self.hash(text))
    }

    /// The text of a term in use.
    pub fn text(&self, id: TermId) -> &str {
        self.terms[id.index()].text.as_str()
    }

    /// Put the text of a term behind others; nothing if its id is not in use.
    #[inline]
    pub fn append_utf8(&self, id: TermId, others: &mut Vec<u8>) {
        self.terms[id.index()].text.append_to(others);
    }

    /// The whole number that a term denotes as an xsd:integer.
    #[inline]
    pub fn whole_number(&self, id: TermId) -> Option<i64> {
        let number = self.terms[id.index()].number;
        (number != NO_NUMBER).then_some(number)
    }

    /// What kind of term it is.
    #[inline]
    pub fn kind(&self, id: TermId) -> Kind {
        self.kinds[id.index()]
    }

    /// One more use.
    #[inline]
    pub fn retain(&mut self, id: TermId) {
        self.uses[id.index()] += 1;
    }

    /// One more use of each.
    pub fn retain_all(&mut self, ids: &[TermId]) {
        let uses = &mut self.uses[..];
        ids.iter().for_each(|id| uses[id.index()] += 1);
    }

    /// One use less.
    #[inline]
    pub fn release(&mut self, id: TermId) {
        let uses = &mut self.uses[id.index()];
        *uses -= 1;
        if *uses == 0 {
            *uses = LISTED;
            self.idle.push(id);
        }
    }

    /// From now on give no id back, or do so again: what several ticks hand out can then be read.
    pub fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// Give back the ids that nothing uses.
    pub fn sweep(&mut self) {
        if self.held {
            return;
        }
        let mut idle = std::mem::take(&mut self.idle);
        for some in idle.chunks(TOGETHER) {
            if self.ids.len() >= LARGE {
                self.ids.warm(some.iter().map(|id| self.terms[id.index()].hash));
            }
            some.iter().for_each(|id| self.give_back(*id));
        }
        idle.clear();
        self.idle = idle;
    }

    /// Take an id off the list, and give it back if nothing uses it.
    #[inline]
    fn give_back(&mut self, id: TermId) {
        let uses = &mut self.uses[id.index()];
        *uses &= !LISTED;
        if *uses > 0 {
            return;
        }
        let term = &mut self.terms[id.index()];
        self.bytes -= term.text.len();
        term.text.clear();
        self.ids.remove(id.0, term.hash);
        self.unused.push(id);
    }

    /// No id is as high.
    pub fn ids_below(&self) -> usize {
        self.uses.len()
    }

    /// How many terms have an id.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether no term has an id.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An estimate of the memory held.
    pub fn bytes(&self) -> usize {
        self.bytes + self.terms.capacity() * (size_of::<Term>() + 5) + self.ids.bytes()
    }

    /// Every term with its uses, by id, for a snapshot.
    pub fn entries(&self) -> impl Iterator<Item = (TermId, &str, u32)> {
        let mut is_unused = vec![false; self.terms.len()];
        self.unused.iter().for_each(|id| is_unused[id.index()] = true);
        let in_use = (0..self.terms.len()).filter(move |position| !is_unused[*position]);
        in_use.map(|position| {
            let text = self.terms[position].text.as_str();
            (TermId::at(position), text, self.uses[position] & !LISTED)
        })
    }

    /// A dictionary with exactly these entries.
    pub fn restore(entries: impl IntoIterator<Item = (TermId, Box<str>, u32)>) -> Self {
        let mut dictionary = Self::default();
        for (id, text, uses) in entries {
            while dictionary.uses.len() < id.index() {
                dictionary.unused.push(TermId::at(dictionary.uses.len()));
                dictionary.terms.push(Term::NONE);
                dictionary.kinds.push(Kind::Iri);
                dictionary.uses.push(0);
            }
            dictionary.bytes += text.len();
            dictionary.uses.push(if uses == 0 { LISTED } else { uses });
            let mut term = Term::NONE;
            dictionary.kinds.push(term.set(&text, dictionary.hash(&text)));
            dictionary.ids.find_or_insert(term.hash, |_| false, id.0);
            dictionary.terms.push(term);
            if uses == 0 {
                dictionary.idle.push(id);
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
    fn while_held_no_id_is_given_back() {
        let mut dictionary = Dictionary::default();
        let a = dictionary.intern("<a>");
        dictionary.hold(true);
        dictionary.sweep();
        assert_eq!(dictionary.text(a), "<a>");
        dictionary.hold(false);
        dictionary.sweep();
        assert_eq!(dictionary.lookup("<a>"), None);
    }

    #[test]
    fn whole_numbers_are_known() {
        let mut dictionary = Dictionary::default();
        let mut number = |text: &str| {
            let id = dictionary.intern(text);
            dictionary.whole_number(id)
        };
        assert_eq!(number("\"-42\"^^<http://www.w3.org/2001/XMLSchema#integer>"), Some(-42));
        assert_eq!(number("\"4x\"^^<http://www.w3.org/2001/XMLSchema#integer>"), None);
        assert_eq!(number("\"42\""), None);
    }

    #[test]
    fn an_id_is_listed_once_however_often_it_is_let_go() {
        let mut dictionary = Dictionary::default();
        let a = dictionary.intern("<a>");
        for _ in 0..3 {
            dictionary.retain(a);
            dictionary.release(a);
        }
        assert_eq!(dictionary.idle, [a]);
        dictionary.retain(a);
        dictionary.sweep();
        assert!(dictionary.idle.is_empty() && dictionary.lookup("<a>") == Some(a));
        let uses: Vec<u32> = dictionary.entries().map(|(_, _, uses)| uses).collect();
        assert_eq!(uses, [1]);
        dictionary.release(a);
        dictionary.sweep();
        assert_eq!((dictionary.unused.len(), dictionary.entries().count()), (1, 0));
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
