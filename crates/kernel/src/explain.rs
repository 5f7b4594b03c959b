//! Explaining a plan: every rule's joins, as text.
//!
//! ```text
//! triple has 3 columns, indexed by (0, 1) (1, 2)
//! stratum 0
//!   on triple(?0, <isIn>, ?1)
//!     match triple(?1, <isIn>, ?2) by columns 0, 1
//!       derive triple(?0, <isIn>, ?2)    R
//! ```

use std::fmt::Write;

use crate::ids::{ConditionId, RelationId};
use crate::kernel::Kernel;
use crate::plan::{Access, Condition, Lookup, Node, Operand, Step, Tree};
use crate::relation::Relation;

impl Kernel {
    /// The plan in force.
    pub fn explain(&self) -> String {
        let mut text = String::new();
        for (declared, relation) in self.program.relations.iter().zip(&self.relations) {
            let named = |kept: bool| -> String {
                let named = relation.indexed().filter(|(_, is_kept)| *is_kept == kept);
                named.map(|(columns, _)| format!(" ({})", list(columns))).collect()
            };
            let kept = match named(true) {
                none if none.is_empty() => ", no index".to_owned(),
                some => format!(", indexed by{some}"),
            };
            let indexes = match named(false) {
                none if none.is_empty() => kept,
                some => format!("{kept}, when needed by{some}"),
            };
            let arity = declared.arity;
            let _ = writeln!(text, "{} has {arity} columns{indexes}", declared.name);
        }
        for stratum in 0..self.plan.starts.len() {
            let _ = writeln!(text, "stratum {stratum}");
            self.tree(&mut text, "  at the start", &self.plan.starts[stratum]);
            for (trees, on) in
                [(&self.plan.rising, "  on"), (&self.plan.blocking, "  on the coming or going of")]
            {
                for (position, tree) in trees[stratum].iter().enumerate() {
                    let condition = self.body.get(ConditionId::at(position));
                    self.tree(&mut text, &format!("{on} {}", self.condition(condition)), tree);
                }
            }
        }
        text
    }

    fn tree(&self, text: &mut String, title: &str, tree: &Tree) {
        if tree.is_empty() {
            return;
        }
        let _ = writeln!(text, "{title}");
        let mut waiting: Vec<(usize, &Node)> =
            tree.roots.iter().rev().map(|root| (2, root)).collect();
        while let Some((depth, node)) = waiting.pop() {
            let _ = writeln!(text, "{}{}", "  ".repeat(depth), self.step(&node.step));
            waiting.extend(node.then.iter().rev().map(|next| (depth + 1, next)));
        }
    }

    fn condition(&self, condition: &Condition) -> String {
        let name = &self.program.relations[condition.relation.index()].name;
        let mut columns = vec![String::new(); self.relations[condition.relation.index()].arity()];
        for (slot, column) in condition.columns.iter().enumerate() {
            columns[*column] = format!("?{slot}");
        }
        for (column, term) in &condition.constants {
            columns[*column] = self.dictionary.text(*term).to_owned();
        }
        for (first, again) in &condition.repeats {
            columns[*again] = columns[*first].clone();
        }
        format!("{name}({})", columns.join(", "))
    }

    fn operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Slot(slot) => format!("?{}", slot.0),
            Operand::Term(term) => self.dictionary.text(*term).to_owned(),
        }
    }

    fn operands(&self, operands: &[Operand]) -> String {
        let texts: Vec<String> = operands.iter().map(|operand| self.operand(operand)).collect();
        texts.join(", ")
    }

    fn lookup(&self, lookup: &Lookup, bound: impl Fn(usize) -> Option<String>) -> String {
        let relation: &Relation = &self.relations[lookup.relation.index()];
        let indexed: Vec<&[usize]> = relation.indexed().map(|(columns, _)| columns).collect();
        let (known, how): (Vec<usize>, String) = match &lookup.access {
            Access::Row => ((0..relation.arity()).collect(), "by all columns".to_owned()),
            Access::Index(index) => {
                let columns = indexed[index.index()];
                (columns.to_vec(), format!("by columns {}", list(columns)))
            }
            Access::Scan => (Vec::new(), "by a scan".to_owned()),
        };
        let argument = |column: usize| match known.iter().position(|known| *known == column) {
            Some(position) => self.operand(&lookup.key.operands[position]),
            None => bound(column).unwrap_or_else(|| "?".to_owned()),
        };
        let arguments: Vec<String> = (0..relation.arity()).map(argument).collect();
        let name = self.name(lookup.relation);
        format!("{name}({}) {how}", arguments.join(", "))
    }

    fn name(&self, relation: RelationId) -> &str {
        &self.program.relations[relation.index()].name
    }

    fn step(&self, step: &Step) -> String {
        match step {
            Step::Match(lookup, binds) => {
                let bound = |column| {
                    let bind = binds.iter().find(|(other, _)| *other == column);
                    bind.map(|(_, slot)| format!("?{}", slot.0))
                };
                format!("match {}", self.lookup(lookup, bound))
            }
            Step::Absent(lookup) => format!("not {}", self.lookup(lookup, |_| None)),
            Step::Test(builtin, inputs) => {
                format!("{}({})", self.evaluator.name(*builtin), self.operands(inputs))
            }
            Step::Compute(builtin, inputs, slot) => {
                format!(
                    "?{} = {}({})",
                    slot.0,
                    self.evaluator.name(*builtin),
                    self.operands(inputs)
                )
            }
            Step::Equals(builtin, inputs, result) | Step::Yields(builtin, inputs, result) => {
                let (result, inputs) = (self.operand(result), self.operands(inputs));
                format!("{result} is {}({inputs})", self.evaluator.name(*builtin))
            }
            Step::Derive(rule, relation, terms) => {
                let name = &self.program.rules[rule.index()].name;
                format!(
                    "derive {}({})    {name}",
                    self.name(*relation),
                    self.operands(&terms.operands)
                )
            }
        }
    }
}

fn list(columns: &[usize]) -> String {
    columns.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
