//! What external tests said of terms since the dictionary was swept: they are asked again and again.
//!
//! Shape: a table of fixed size; of the questions that share a place the last one is remembered.
//! Invariant: ids of terms are given back when the dictionary is swept, so whoever sweeps it lets this
//! forget.

use crate::ids::{ExternalId, TermId};
use crate::key::Packed;

/// A power of two.
const PLACES: usize = 1 << 10;

/// A question: a test, and its terms.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Question {
    test: ExternalId,
    terms: Packed,
}

impl Question {
    /// Whether a test holds of these terms; none if they are too many to be remembered.
    #[inline]
    pub fn of(test: ExternalId, terms: impl ExactSizeIterator<Item = TermId>) -> Option<Self> {
        if terms.len() > Packed::COLUMNS {
            return None;
        }
        let put = |packed: Packed, (column, term)| packed.with(column, term);
        Some(Self { test, terms: terms.enumerate().fold(Packed::default(), put) })
    }

    #[inline]
    fn place(self) -> usize {
        (self.terms.hash() as usize).wrapping_add(self.test.index()) & (PLACES - 1)
    }
}

/// Questions and their answers.
#[derive(Default)]
pub struct Recall {
    places: Vec<Option<(Question, bool)>>,
}

impl Recall {
    /// What was answered, if it is remembered.
    #[inline]
    pub fn get(&self, question: Question) -> Option<bool> {
        let found = self.places.get(question.place())?.as_ref();
        found.filter(|(asked, _)| *asked == question).map(|(_, answer)| *answer)
    }

    /// Remember an answer.
    pub fn put(&mut self, question: Question, answer: bool) {
        self.places.resize(PLACES, None);
        self.places[question.place()] = Some((question, answer));
    }

    /// Forget everything.
    pub fn forget(&mut self) {
        self.places.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_those_of_the_question() {
        let question = |test, terms: &[u32]| {
            let terms = terms.iter().map(|term| TermId(*term));
            Question::of(ExternalId::at(test), terms).expect("a question of few terms")
        };
        let mut recall = Recall::default();
        assert_eq!(recall.get(question(0, &[7])), None);
        recall.put(question(0, &[7]), true);
        recall.put(question(1, &[7]), false);
        assert_eq!(recall.get(question(0, &[7])), Some(true));
        assert_eq!(recall.get(question(1, &[7])), Some(false));
        assert_eq!(recall.get(question(0, &[8])), None);
        recall.forget();
        assert_eq!(recall.get(question(0, &[7])), None);
    }

    #[test]
    fn long_questions_are_not_remembered() {
        assert!(Question::of(ExternalId::at(0), (0..5).map(TermId)).is_none());
    }
}
