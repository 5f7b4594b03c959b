//! Places: numbered things found by their hashes.
//!
//! Shape: lines of seven places, chosen by the low bits of a hash; a line is one line of the processor's cache. A
//! place holds a thing and the low half of its hash. In front of a line stand the tags of its places, a byte each:
//! the highest bit says that there is something, the others are some bits of its hash. So what is not there is mostly
//! missed, and what goes mostly forgotten, by one look at one word.
//!
//! Invariant: a thing is in the line of its hash; or that line is full, and so are those after it up to the one that
//! has the thing. There are on average no more than three things a line, and no thing is in twice. What stands at a
//! place whose tag has no highest bit means nothing.

use crate::prefetch::prefetch;

/// No thing has this number.
pub(crate) const NOTHING: u32 = u32::MAX >> 1;
/// How many places a line has.
const SEVEN: usize = 7;
/// The smallest number of lines once there is a thing.
const FEWEST: usize = 4;
/// How many things a line has at most, on average: one line in thirty is full then.
const THREE: usize = 3;

/// The highest bit of a tag.
const TAKEN: u8 = 0x80;
/// A one in each byte, and the highest bit of each that is a tag.
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x0080_8080_8080_8080;

/// A thing and the low half of its hash.
#[derive(Clone, Copy)]
struct Pointer {
    thing: u32,
    hash: u32,
}

const NOWHERE: Pointer = Pointer { thing: NOTHING, hash: 0 };

/// Seven places and their tags.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line {
    tags: [u8; 8],
    places: [Pointer; SEVEN],
}

const EMPTY: Line = Line { tags: [0; 8], places: [NOWHERE; SEVEN] };

/// The tag of a hash, whose highest bit is set. Hashes may differ in few bits, so that these are mixed.
#[inline(always)]
fn tag_of(hash: u32) -> u8 {
    (hash.wrapping_mul(0x9E37_79B1) >> 25) as u8 | TAKEN
}

impl Line {
    /// The highest bit of each tag that is this one; above the first of these perhaps of others, too.
    #[inline(always)]
    fn tagged(&self, tag: u8) -> u64 {
        let differing = u64::from_le_bytes(self.tags) ^ (u64::from(tag) * ONES);
        differing.wrapping_sub(ONES) & !differing & HIGHS
    }

    /// The highest bit of the tag of each place that is empty.
    #[inline(always)]
    fn untagged(&self) -> u64 {
        !u64::from_le_bytes(self.tags) & HIGHS
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.untagged() == 0
    }

    /// The things, each with its place.
    fn things(&self) -> impl Iterator<Item = (usize, Pointer)> {
        let is_taken = |(place, _): &(usize, Pointer)| self.tags[*place] & TAKEN != 0;
        self.places.into_iter().enumerate().filter(is_taken)
    }

    /// The thing with this hash that is the one sought.
    #[inline(always)]
    fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut bits = self.tagged(tag_of(hash));
        while bits != 0 {
            let pointer = self.places[place_of(bits)];
            if pointer.hash == hash && is_it(pointer.thing) {
                return Some(pointer.thing);
            }
            bits &= bits - 1;
        }
        None
    }

    /// Take in a thing. The line is not full.
    #[inline(always)]
    fn seat(&mut self, pointer: Pointer) {
        let place = place_of(self.untagged());
        self.tags[place] = tag_of(pointer.hash);
        self.places[place] = pointer;
    }

    fn clear(&mut self, place: usize) {
        self.tags[place] = 0;
    }
}

/// The place whose tag has the first of some bits.
#[inline(always)]
fn place_of(bits: u64) -> usize {
    (bits.trailing_zeros() / 8) as usize % 8
}

/// Things by their hashes. What makes two of them the same is for the caller to know.
pub(crate) struct Places {
    lines: Vec<Line>,
    len: usize,
    /// With so many things there must be more lines.
    full: usize,
}

impl Default for Places {
    fn default() -> Self {
        Self { lines: vec![EMPTY], len: 0, full: 0 }
    }
}

impl Places {
    /// How many things there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// An estimate of the memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.lines.len() * size_of::<Line>()
    }

    /// The line of a hash. Its low half says it: there are no more lines than things can have numbers.
    #[inline(always)]
    fn line(&self, hash: u32) -> usize {
        hash as usize & (self.lines.len() - 1)
    }

    #[inline]
    fn line_after(&self, line: usize) -> usize {
        (line + 1) & (self.lines.len() - 1)
    }

    /// The thing with this hash that is the one sought.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let hash = hash as u32;
        let mut number = self.line(hash);
        loop {
            let line = &self.lines[number];
            let found = line.find(hash, &is_it);
            if found.is_some() || !line.is_full() {
                return found;
            }
            number = self.line_after(number);
        }
    }

    /// The thing with this hash that is the one sought, or none, and then `new` was taken in.
    #[inline(always)]
    pub(crate) fn find_or_insert(
        &mut self,
        hash: u64,
        is_it: impl Fn(u32) -> bool,
        new: u32,
    ) -> Option<u32> {
        if self.len >= self.full {
            self.grow();
        }
        let pointer = Pointer { thing: new, hash: hash as u32 };
        let number = self.line(pointer.hash);
        let line = &mut self.lines[number];
        let mut found = line.find(pointer.hash, &is_it);
        if found.is_none() && line.is_full() {
            found = self.find_or_push(pointer, is_it);
        } else if found.is_none() {
            line.seat(pointer);
        }
        self.len += usize::from(found.is_none());
        found
    }

    #[inline(never)]
    fn find_or_push(&mut self, pointer: Pointer, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let found = self.find(u64::from(pointer.hash), is_it);
        if found.is_none() {
            self.push(pointer);
        }
        found
    }

    /// Put a thing into the first line from its own on that is not full.
    fn push(&mut self, pointer: Pointer) {
        let mut number = self.line(pointer.hash);
        while self.lines[number].is_full() {
            number = self.line_after(number);
        }
        self.lines[number].seat(pointer);
    }

    /// Make room for so many things more.
    pub(crate) fn reserve(&mut self, things: usize) {
        let lines = (self.len + things).div_ceil(THREE).next_power_of_two();
        if lines > self.lines.len() {
            self.grow_to(lines);
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.grow_to((2 * self.lines.len()).max(FEWEST));
    }

    #[cold]
    fn grow_to(&mut self, lines: usize) {
        self.full = THREE * lines;
        for line in std::mem::replace(&mut self.lines, vec![EMPTY; lines]) {
            line.things().for_each(|(_, pointer)| self.push(pointer));
        }
    }

    /// Take out a thing that is in.
    #[inline]
    pub(crate) fn remove(&mut self, thing: u32, hash: u64) {
        let number = self.line(hash as u32);
        self.len -= 1;
        let line = &mut self.lines[number];
        let bits = line.tagged(tag_of(hash as u32));
        if bits & bits.wrapping_sub(1) == 0 && !line.is_full() {
            // It is in its own line, and the only one with its tag.
            debug_assert!(bits != 0, "a thing that is taken out is in");
            line.tags = (u64::from_le_bytes(line.tags) ^ bits).to_le_bytes();
        } else {
            self.remove_among_many(thing, number);
        }
    }

    /// Take out a thing that is in a line, or in one after it if that is full.
    #[inline(never)]
    fn remove_among_many(&mut self, thing: u32, mut number: usize) {
        loop {
            let line = &mut self.lines[number];
            let was_full = line.is_full();
            let it = line.things().find(|(_, pointer)| pointer.thing == thing);
            if let Some((place, _)) = it {
                line.clear(place);
                if was_full {
                    self.fill_up(number);
                }
                return;
            }
            debug_assert!(was_full, "a thing that is taken out is in");
            number = self.line_after(number);
        }
    }

    /// A line was full, and is no more: let a thing come back that was put behind it, if there is one, and so on.
    fn fill_up(&mut self, mut hole: usize) {
        let last = self.lines.len() - 1;
        let mut number = hole;
        loop {
            number = self.line_after(number);
            let line = self.lines[number];
            let behind_hole = number.wrapping_sub(hole) & last;
            let is_behind = |(_, pointer): &(usize, Pointer)| {
                number.wrapping_sub(self.line(pointer.hash)) & last >= behind_hole
            };
            let comes_back = line.things().find(is_behind);
            if let Some((place, pointer)) = comes_back {
                self.lines[number].clear(place);
                self.lines[hole].seat(pointer);
                hole = number;
            }
            if !line.is_full() {
                return;
            }
        }
    }

    /// Ask for the lines of some hashes.
    #[inline]
    pub(crate) fn warm(&self, hashes: impl Iterator<Item = u64>) {
        hashes.for_each(|hash| prefetch(&self.lines[self.line(hash as u32)]));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_of_places_is_a_line_of_the_cache() {
        assert_eq!((size_of::<Line>(), align_of::<Line>()), (64, 64));
    }

    proptest! {
        /// A thing that is not in comes, one that is in goes. All hashes are of a few lines, so that these are full,
        /// and things stand behind them.
        #[test]
        fn things_come_and_go(steps in prop::collection::vec((0..60_u32, 0..5_u64), 0..300)) {
            let mut places = Places::default();
            let mut known = BTreeMap::new();
            for (thing, hash) in steps {
                if let Some(hash) = known.remove(&thing) {
                    places.remove(thing, hash);
                } else {
                    let is_it = |other| other == thing;
                    prop_assert_eq!(places.find_or_insert(hash, is_it, thing), None);
                    prop_assert_eq!(places.find_or_insert(hash, is_it, NOTHING), Some(thing));
                    known.insert(thing, hash);
                }
                prop_assert_eq!(places.len(), known.len());
                for hash in 0..5 {
                    prop_assert_eq!(places.find(hash, |other| !known.contains_key(&other)), None);
                }
                for (thing, hash) in &known {
                    prop_assert_eq!(places.find(*hash, |other| other == *thing), Some(*thing));
                }
            }
            places.reserve(10_000);
            for (thing, hash) in known {
                prop_assert_eq!(places.find(hash, |other| other == thing), Some(thing));
            }
        }
    }
}
