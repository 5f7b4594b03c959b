//! Chains: numbered things found by their hashes.
//!
//! Shape: a place, by the low bits of a hash, holds the first of a chain of things; by number, the
//! thing after it in its chain. Whoever points to a thing knows the low half of its hash, so that others
//! are not even looked at. Taking a thing in or out moves no other one.
//!
//! Beside the places stand their tags, a byte each: that a place is empty, that it has many things, or
//! some bits of the hash of its only thing. A thing that is alone at its place, as most are, comes and
//! goes, and one that is not there is not found, by its tag: of all that the chains are made of, the
//! tags are what fits into a cache.
//!
//! Invariant: there are at least twice as many places as things, eight times as many while they are few, and no
//! thing is in twice. What stands at a place that is empty, and after a thing that is alone, means nothing.

use crate::prefetch::prefetch;

/// No thing has this number.
pub(crate) const NOTHING: u32 = u32::MAX >> 1;
/// The smallest number of places once there is a thing.
const FEWEST: usize = 16;
/// Up to so many places each thing may have eight: they stay in a near cache, and most things are alone.
const ROOMY: usize = 1 << 16;

/// How many things so many places are for.
fn most_things(places: usize) -> usize {
    if places <= ROOMY { places / 8 } else { places / 2 }
}

/// How many places so many things need.
fn places_for(things: usize) -> usize {
    let roomy = (8 * things).next_power_of_two();
    if roomy <= ROOMY { roomy } else { (2 * things).next_power_of_two().max(2 * ROOMY) }
}

/// A thing and the low half of its hash.
#[derive(Clone, Copy)]
struct Pointer {
    thing: u32,
    hash: u32,
}

const NOWHERE: Pointer = Pointer { thing: NOTHING, hash: 0 };

/// The tag of a place without things.
const EMPTY: u8 = 0;
/// The tag of a place with several.
const MANY: u8 = u8::MAX;

/// The tag of a place whose only thing has this hash: from 1 to 128.
#[inline]
fn tag_of(hash: u32) -> u8 {
    (hash >> 25) as u8 + 1
}

/// Things by their hashes. What makes two of them the same is for the caller to know.
pub(crate) struct Chains {
    tags: Vec<u8>,
    places: Vec<Pointer>,
    after: Vec<Pointer>,
    len: usize,
    /// With so many things there must be more places.
    full: usize,
}

impl Default for Chains {
    fn default() -> Self {
        Self { tags: vec![EMPTY], places: vec![NOWHERE], after: Vec::new(), len: 0, full: 0 }
    }
}

impl Chains {
    /// How many things there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// An estimate of the memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.tags.len() + (self.places.len() + self.after.capacity()) * size_of::<Pointer>()
    }

    #[inline]
    fn place(&self, hash: u32) -> usize {
        hash as usize & (self.tags.len() - 1)
    }

    /// The thing with this hash that is the one sought.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let hash = hash as u32;
        let place = self.place(hash);
        let tag = self.tags[place];
        if tag != MANY {
            if tag != tag_of(hash) {
                return None;
            }
            let only = self.places[place];
            return (only.hash == hash && is_it(only.thing)).then_some(only.thing);
        }
        let mut next = self.places[place];
        while next.thing != NOTHING {
            if next.hash == hash && is_it(next.thing) {
                return Some(next.thing);
            }
            next = self.after[next.thing as usize];
        }
        None
    }

    /// The thing with this hash that is the one sought, or none, and then `new` was taken in.
    #[inline(always)]
    pub(crate) fn find_or_insert(
        &mut self,
        hash: u64,
        is_it: impl Fn(u32) -> bool,
        new: u32,
    ) -> Option<u32> {
        if self.is_full() {
            self.grow();
        }
        let pointer = Pointer { thing: new, hash: hash as u32 };
        let place = self.place(pointer.hash);
        if self.tags[place] != EMPTY {
            let found = self.find(hash, is_it);
            if found.is_none() {
                self.len += 1;
                self.push_among_others(pointer, place);
            }
            return found;
        }
        self.len += 1;
        self.tags[place] = tag_of(pointer.hash);
        self.places[place] = pointer;
        None
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.len >= self.full
    }

    #[cold]
    fn grow(&mut self) {
        self.grow_to((2 * self.places.len()).max(FEWEST));
    }

    /// Put a thing in front of those at its place. The low half of a hash says where that is: there are
    /// no more places than things can have numbers.
    #[inline]
    fn push(&mut self, pointer: Pointer) {
        let place = self.place(pointer.hash);
        if self.tags[place] == EMPTY {
            self.tags[place] = tag_of(pointer.hash);
            self.places[place] = pointer;
        } else {
            self.push_among_others(pointer, place);
        }
    }

    /// Put a thing in front of others at a place.
    #[inline(never)]
    fn push_among_others(&mut self, pointer: Pointer, place: usize) {
        let first = std::mem::replace(&mut self.places[place], pointer);
        let things = first.thing.max(pointer.thing) as usize + 1;
        if things > self.after.len() {
            self.after.resize(things, NOWHERE);
        }
        if self.tags[place] != MANY {
            self.tags[place] = MANY;
            self.after[first.thing as usize] = NOWHERE;
        }
        self.after[pointer.thing as usize] = first;
    }

    /// Make room for so many things more.
    pub(crate) fn reserve(&mut self, things: usize) {
        self.after.reserve(things);
        let places = places_for(self.len + things);
        if places > self.places.len() {
            self.grow_to(places);
        }
    }

    #[cold]
    fn grow_to(&mut self, places: usize) {
        self.full = most_things(places);
        let tags = std::mem::replace(&mut self.tags, vec![EMPTY; places]);
        let firsts = std::mem::replace(&mut self.places, vec![NOWHERE; places]);
        for (tag, mut next) in tags.into_iter().zip(firsts).filter(|(tag, _)| *tag != EMPTY) {
            while next.thing != NOTHING {
                let after = if tag == MANY { self.after[next.thing as usize] } else { NOWHERE };
                self.push(next);
                next = after;
            }
        }
    }

    /// Take out a thing that is in.
    #[inline]
    pub(crate) fn remove(&mut self, thing: u32, hash: u64) {
        let place = self.place(hash as u32);
        self.len -= 1;
        if self.tags[place] == MANY {
            self.remove_among_many(thing, place);
        } else {
            self.tags[place] = EMPTY;
        }
    }

    #[inline(never)]
    fn remove_among_many(&mut self, thing: u32, place: usize) {
        let after = self.after[thing as usize];
        let mut other = self.places[place].thing;
        if other == thing {
            self.places[place] = after;
        } else {
            while self.after[other as usize].thing != thing {
                other = self.after[other as usize].thing;
            }
            self.after[other as usize] = after;
        }
        let first = self.places[place];
        if self.after[first.thing as usize].thing == NOTHING {
            self.tags[place] = tag_of(first.hash);
        }
    }

    /// Ask for the places of some hashes.
    #[inline]
    pub(crate) fn warm(&self, hashes: impl Iterator<Item = u64>) {
        for hash in hashes {
            let place = self.place(hash as u32);
            prefetch(&self.tags[place]);
            prefetch(&self.places[place]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_places_for_all_things() {
        for things in [1, 2, 1_000, 8_191, 8_192, 8_193, 65_535, 65_536, 65_537, 1_000_000] {
            let places = places_for(things);
            assert!(most_things(places) >= things, "{places} places for {things}");
            assert!(most_things(places / 2) < things, "half of {places} for {things}");
        }
    }

    #[test]
    fn things_come_and_go() {
        let hash = |thing: u32| u64::from(thing % 7) * 0x1_0000_0001;
        let mut chains = Chains::default();
        for thing in 0..100 {
            chains.find_or_insert(hash(thing), |_| false, thing);
        }
        for thing in (0..100).step_by(3) {
            chains.remove(thing, hash(thing));
        }
        assert_eq!(chains.len(), 66);
        for thing in 0..100 {
            let found = chains.find(hash(thing), |other| other == thing);
            assert_eq!(found.is_some(), thing % 3 != 0, "{thing}");
        }
        chains.reserve(1_000);
        assert_eq!(chains.find(hash(50), |other| other == 50), Some(50));
    }
}
