//! Chains: numbered things found by their hashes.
//!
//! Shape: a place, by the low bits of a hash, holds the first of a chain of things; by number, the
//! thing after it in its chain. Whoever points to a thing knows the low half of its hash, so that others
//! are not even looked at. Taking a thing in or out moves no other one.
//!
//! Invariant: there are at least as many places as things, and no thing is in twice.

/// No thing has this number.
pub(crate) const NOTHING: u32 = u32::MAX >> 1;
/// The smallest number of places once there is a thing.
const FEWEST: usize = 16;

/// A thing and the low half of its hash.
#[derive(Clone, Copy)]
struct Pointer {
    thing: u32,
    hash: u32,
}

const NOWHERE: Pointer = Pointer { thing: NOTHING, hash: 0 };

/// Things by their hashes. What makes two of them the same is for the caller to know.
pub(crate) struct Chains {
    places: Vec<Pointer>,
    after: Vec<Pointer>,
    len: usize,
}

impl Default for Chains {
    fn default() -> Self {
        Self { places: vec![NOWHERE], after: Vec::new(), len: 0 }
    }
}

impl Chains {
    /// How many things there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// An estimate of the memory held.
    pub(crate) fn bytes(&self) -> usize {
        (self.places.len() + self.after.capacity()) * size_of::<Pointer>()
    }

    #[inline]
    fn place(&self, hash: u32) -> usize {
        hash as usize & (self.places.len() - 1)
    }

    /// The thing with this hash that is the one sought.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let hash = hash as u32;
        let mut next = self.places[self.place(hash)];
        while next.thing != NOTHING {
            if next.hash == hash && is_it(next.thing) {
                return Some(next.thing);
            }
            next = self.after[next.thing as usize];
        }
        None
    }

    /// Take in a thing that is not in.
    #[inline]
    pub(crate) fn insert(&mut self, thing: u32, hash: u64) {
        if self.len >= self.places.len() || self.places.len() == 1 {
            self.grow_to((2 * self.places.len()).max(FEWEST));
        }
        if thing as usize >= self.after.len() {
            self.after.resize(thing as usize + 1, NOWHERE);
        }
        self.len += 1;
        self.push(Pointer { thing, hash: hash as u32 });
    }

    /// Put a thing in front of those at its place. The low half of a hash says where that is: there are
    /// no more places than things can have numbers.
    #[inline]
    fn push(&mut self, pointer: Pointer) {
        let place = self.place(pointer.hash);
        self.after[pointer.thing as usize] = std::mem::replace(&mut self.places[place], pointer);
    }

    /// Make room for so many things more.
    pub(crate) fn reserve(&mut self, things: usize) {
        self.after.reserve(things);
        let places = (self.len + things).next_power_of_two();
        if places > self.places.len() {
            self.grow_to(places);
        }
    }

    #[cold]
    fn grow_to(&mut self, places: usize) {
        for mut next in std::mem::replace(&mut self.places, vec![NOWHERE; places]) {
            while next.thing != NOTHING {
                let after = self.after[next.thing as usize];
                self.push(next);
                next = after;
            }
        }
    }

    /// Take out a thing that is in.
    #[inline]
    pub(crate) fn remove(&mut self, thing: u32, hash: u64) {
        let after = self.after[thing as usize];
        let place = self.place(hash as u32);
        self.len -= 1;
        let mut other = self.places[place].thing;
        if other == thing {
            self.places[place] = after;
            return;
        }
        while self.after[other as usize].thing != thing {
            other = self.after[other as usize].thing;
        }
        self.after[other as usize] = after;
    }

    /// Fetch the place of a thing.
    pub(crate) fn warm_one(&self, thing: u32, hash: u64) {
        let place = self.place(hash as u32);
        std::hint::black_box(self.places[place].thing ^ self.after[thing as usize].thing);
    }

    /// Fetch the places of some hashes.
    pub(crate) fn warm(&self, hashes: impl Iterator<Item = u64>) {
        let things = hashes.map(|hash| self.places[self.place(hash as u32)].thing);
        std::hint::black_box(things.fold(0, |all, thing| all ^ thing));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_come_and_go() {
        let hash = |thing: u32| u64::from(thing % 7) * 0x1_0000_0001;
        let mut chains = Chains::default();
        for thing in 0..100 {
            chains.insert(thing, hash(thing));
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
