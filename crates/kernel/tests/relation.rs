//! A relation against a list of its facts: whatever comes and goes, each is found by all its columns, by
//! each index, and nothing else is. Terms are few, so that keys repeat and places are shared; arities go
//! from keys that are packed to rows that spill.

use ebbtide_kernel::ids::{IndexId, RowId, TermId};
use ebbtide_kernel::instant::Instant;
use ebbtide_kernel::relation::Relation;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Act {
    /// A fact comes, is settled and so linked.
    Settle(Vec<u32>),
    /// One of those there are, by its position, ends and is forgotten.
    Forget(usize),
    /// An index is kept from now on.
    Keep(usize),
}

fn indexes(arity: usize) -> Vec<Vec<usize>> {
    let mut wanted = vec![vec![0], vec![arity - 1], vec![0, arity - 1], (1..arity).collect()];
    wanted.retain(|columns: &Vec<usize>| !columns.is_empty());
    wanted.dedup();
    wanted.iter_mut().for_each(Vec::dedup);
    wanted
}

fn acts(arity: usize) -> impl Strategy<Value = Vec<Act>> {
    let terms = || prop::collection::vec(0..4_u32, arity);
    let act = prop_oneof![
        6 => terms().prop_map(Act::Settle),
        4 => any::<usize>().prop_map(Act::Forget),
        1 => (0..indexes(arity).len()).prop_map(Act::Keep),
    ];
    prop::collection::vec(act, 0..200)
}

fn terms_of(numbers: &[u32]) -> Vec<TermId> {
    // Far apart, so that columns are not linear in each other.
    numbers.iter().map(|number| TermId(number * number * 7_919 + number)).collect()
}

fn sorted(relation: &Relation, rows: impl Iterator<Item = RowId>) -> Vec<Vec<TermId>> {
    let mut facts: Vec<Vec<TermId>> = rows.map(|row| relation.terms(row).collect()).collect();
    facts.sort();
    facts
}

fn agree(relation: &Relation, facts: &[Vec<TermId>], kept: &[usize], wanted: &[Vec<usize>]) {
    assert_eq!(relation.len(), facts.len());
    assert_eq!(sorted(relation, relation.rows()), facts);
    for fact in facts {
        let row = relation.find(&fact[..]).expect("it is there");
        assert_eq!(&relation.terms(row).collect::<Vec<_>>(), fact);
    }
    for index in kept {
        for number in 0..4 {
            let key: Vec<TermId> = terms_of(&vec![number; wanted[*index].len()]);
            let has = |fact: &&Vec<TermId>| {
                wanted[*index].iter().zip(&key).all(|(column, term)| fact[*column] == *term)
            };
            let expected: Vec<_> = facts.iter().filter(has).cloned().collect();
            let id = IndexId::at(*index);
            assert_eq!(sorted(relation, relation.matches(id, relation.key(id, &key))), expected);
        }
    }
}

fn play(arity: usize, acts: Vec<Act>) {
    let wanted = indexes(arity);
    let mut relation = Relation::new(arity);
    relation.set_indexes(wanted.clone());
    let mut facts: Vec<Vec<TermId>> = Vec::new();
    let mut kept: Vec<usize> = Vec::new();
    for (order, act) in acts.into_iter().enumerate() {
        match act {
            Act::Settle(numbers) => {
                let terms = terms_of(&numbers);
                let (row, made) = relation.find_or_insert(&terms[..]);
                assert_eq!(made, !facts.contains(&terms));
                if relation.offer(row, Instant(order as i64)) {
                    relation.settle(row, order as u64);
                }
                if made {
                    facts.push(terms);
                    facts.sort();
                }
            }
            Act::Forget(_) if facts.is_empty() => {}
            Act::Forget(position) => {
                let terms = facts.remove(position % facts.len());
                let row = relation.find(&terms[..]).expect("it is there");
                relation.end(row);
                assert!(relation.bury(row).is_gone);
                relation.forget_gone();
                assert_eq!(relation.find(&terms[..]), None);
            }
            Act::Keep(index) => {
                relation.keep(IndexId::at(index));
                if !kept.contains(&index) {
                    kept.push(index);
                }
            }
        }
        agree(&relation, &facts, &kept, &wanted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_relation_is_a_list_of_its_facts(
        (arity, acts) in (1..10_usize).prop_flat_map(|arity| (Just(arity), acts(arity)))
    ) {
        play(arity, acts);
    }
}
