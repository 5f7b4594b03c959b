//! Proofs: why a fact holds, and until when.
//!
//! Shape: nodes; the first is the fact asked for; a node is stated, or follows by a rule from
//! premises that are nodes too. Shared premises are one node, and there are no cycles, because every
//! premise precedes its conclusion.

use hashbrown::HashMap;

use crate::ids::{FactId, RuleId};
use crate::instant::Instant;
use crate::kernel::Kernel;
use crate::relation::STRATUM_SHIFT;

/// One step of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofNode {
    /// What holds.
    pub fact: FactId,
    /// Until when.
    pub until: Instant,
    /// The rule it follows by; none if it is stated.
    pub rule: Option<RuleId>,
    /// The positions of the premises, one for each positive atom of the rule, in no set order.
    pub premises: Vec<usize>,
}

impl Kernel {
    /// How many times facts were settled so far.
    pub fn settlings(&self) -> u64 {
        self.order
    }

    /// Which of all settlings was the last one of a fact: how many there had been with it.
    pub fn settling(&self, fact: FactId) -> u64 {
        self.relations[fact.relation.index()].order(fact.row) & ((1 << STRATUM_SHIFT) - 1)
    }

    /// Whether the next tick settles everything anew, after one that broke off.
    pub fn begins_anew(&self) -> bool {
        self.broken && self.tick().is_some()
    }

    /// Why a fact that holds does so. None if an external builtin fails, and after a tick that broke
    /// off, which may leave facts whose derivations are gone.
    pub fn why(&mut self, fact: FactId) -> Option<Vec<ProofNode>> {
        let proof = self.prove(fact);
        if self.evaluator.take_failure() { None } else { proof }
    }

    fn prove(&mut self, fact: FactId) -> Option<Vec<ProofNode>> {
        if !self.plans_heads {
            self.plans_heads = true;
            self.replan();
        }
        let mut positions: HashMap<FactId, usize> = HashMap::from([(fact, 0)]);
        let mut facts = vec![fact];
        let mut nodes: Vec<ProofNode> = Vec::new();
        while let Some(fact) = facts.get(nodes.len()).copied() {
            let until = self.until(fact);
            let stated = self.relations[fact.relation.index()].stated(fact.row) >= until;
            let (rule, body) = if stated {
                (None, Vec::new())
            } else {
                let (rule, body) = self.support(fact)?;
                (Some(rule), body)
            };
            let mut premises = Vec::with_capacity(body.len());
            for premise in body {
                premises.push(*positions.entry(premise).or_insert_with(|| {
                    facts.push(premise);
                    facts.len() - 1
                }));
            }
            nodes.push(ProofNode { fact, until, rule, premises });
        }
        Some(nodes)
    }
}
