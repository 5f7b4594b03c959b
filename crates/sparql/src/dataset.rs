//! The facts of kernels as an RDF dataset, for SPARQL: no second copy of the data.
//!
//! A graph is a relation of three columns. It is seen through lifetimes: only the facts that hold
//! after an instant are in it, so that a window shorter than the kernel's is a filter. A *table* is a
//! relation of any arity, seen as a graph of its own: row r has the term t in column c is the triple
//! (r, column c, t), unless t is `UNBOUND`, which stands for nothing.
//!
//! A term goes by its id in the first kernel; terms that only other kernels or the query know are
//! numbered beyond. Lookups need an index on exactly the bound columns. Where there is none, that is
//! noted, and what was answered is worthless: have the index kept and ask again.

use std::cell::RefCell;
use std::convert::Infallible;
use std::iter::{empty, once};

use ebbtide_kernel::ids::{IndexId, RelationId, RowId, TermId};
use ebbtide_kernel::instant::Instant;
use ebbtide_kernel::kernel::Kernel;
use ebbtide_kernel::value::UNBOUND;
use hashbrown::HashMap;
use oxrdf::{BlankNode, NamedNode, Term};
use spareval::{InternalQuad, QueryableDataset};

use crate::term::{parse, text};

const OTHER: u64 = 1 << 32;
const ROW: u64 = 2 << 32;
/// Smaller relations are searched row by row.
const SMALL: usize = 32;

/// The predicate of the triples of a table that tell of a column.
pub fn column_name(column: usize) -> String {
    format!("urn:ebbtide:column:{column}")
}

/// A term, or the row of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node(u64);

/// A relation of a kernel, as it is after an instant.
#[derive(Clone, Copy)]
pub struct View<'k> {
    /// Whose relation.
    pub kernel: &'k Kernel,
    /// Which.
    pub relation: RelationId,
    /// Facts that have ended then are not seen.
    pub after: Instant,
}

/// An index that a lookup missed: the view by its place in the dataset, and the columns.
pub type Missed = (usize, Vec<usize>);

/// Terms that the first kernel does not know.
#[derive(Default)]
struct Others {
    ids: HashMap<Box<str>, u64>,
    texts: Vec<Box<str>>,
    /// The nodes of terms of other kernels, by view.
    known: HashMap<(usize, TermId), Node>,
}

/// A dataset of views: some of them together are the default graph, the others have names.
pub struct Dataset<'k> {
    views: Vec<View<'k>>,
    names: Vec<Option<Node>>,
    is_table: Vec<bool>,
    columns: Vec<Node>,
    others: RefCell<Others>,
    missed: RefCell<Vec<Missed>>,
}

type Quads<'a> = Box<dyn Iterator<Item = Result<InternalQuad<Node>, Infallible>> + 'a>;

impl<'k> Dataset<'k> {
    /// A dataset of graphs and tables, each with the text of its name; none: the default graph.
    pub fn new(graphs: Vec<(Option<&str>, View<'k>)>, tables: Vec<(&str, View<'k>)>) -> Self {
        let is_table = [vec![false; graphs.len()], vec![true; tables.len()]].concat();
        let named =
            graphs.into_iter().chain(tables.into_iter().map(|(name, view)| (Some(name), view)));
        let (names, views): (Vec<_>, Vec<_>) = named.unzip();
        let mut dataset = Self {
            views,
            names: Vec::new(),
            is_table,
            columns: Vec::new(),
            others: RefCell::default(),
            missed: RefCell::default(),
        };
        dataset.names = names.iter().map(|name| name.map(|name| dataset.node(name))).collect();
        let tables = dataset.views.iter().zip(&dataset.is_table).filter(|(_, is_table)| **is_table);
        let widest = tables.map(|(view, _)| view.kernel.relation(view.relation).arity()).max();
        let column = |column| dataset.node(&format!("<{}>", column_name(column)));
        let columns: Vec<Node> = (0..widest.unwrap_or(0)).map(column).collect();
        dataset.columns = columns;
        dataset
    }

    /// The indexes that lookups missed. If there are any, the answers are worthless.
    pub fn missed(&self) -> Vec<Missed> {
        self.missed.borrow().clone()
    }

    fn is_first(&self, view: usize) -> bool {
        std::ptr::eq(self.views[view].kernel, self.views[0].kernel)
    }

    /// The node of a text.
    fn node(&self, text: &str) -> Node {
        let first = self.views.first().map(|view| view.kernel.dictionary());
        if let Some(id) = first.and_then(|dictionary| dictionary.lookup(text)) {
            return Node(u64::from(id.0));
        }
        let Others { ids, texts, .. } = &mut *self.others.borrow_mut();
        if let Some(id) = ids.get(text) {
            return Node(OTHER | *id);
        }
        let id = texts.len() as u64;
        ids.insert(text.into(), id);
        texts.push(text.into());
        Node(OTHER | id)
    }

    /// The node of a term of a view's kernel.
    fn node_of(&self, view: usize, term: TermId) -> Node {
        if self.is_first(view) {
            return Node(u64::from(term.0));
        }
        let known = self.others.borrow().known.get(&(view, term)).copied();
        known.unwrap_or_else(|| {
            let node = self.node(self.views[view].kernel.dictionary().text(term));
            self.others.borrow_mut().known.insert((view, term), node);
            node
        })
    }

    fn with_text<T>(&self, node: Node, read: impl FnOnce(&str) -> T) -> T {
        if node.0 < OTHER {
            let id = TermId(u32::try_from(node.0).expect("ids are 32 bits wide"));
            return read(self.views[0].kernel.dictionary().text(id));
        }
        let others = self.others.borrow();
        read(others.texts.get((node.0 & !OTHER) as usize).map_or("", |text| text))
    }

    /// The term of a node in a view's kernel, if that knows it.
    fn term_in(&self, view: usize, node: Node) -> Option<TermId> {
        if self.is_first(view) {
            return u32::try_from(node.0).ok().map(TermId);
        }
        let dictionary = self.views[view].kernel.dictionary();
        self.with_text(node, |text| dictionary.lookup(text))
    }

    /// The rows of a view with these terms in these columns, columns ascending.
    fn rows<'a>(
        &'a self,
        view: usize,
        bound: Vec<(usize, TermId)>,
    ) -> Box<dyn Iterator<Item = RowId> + 'a> {
        let View { kernel, relation, after } = self.views[view];
        let relation = kernel.relation(relation);
        let holds = move |row: &RowId| relation.until(*row) > after;
        if bound.len() == relation.arity() {
            let terms: Vec<TermId> = bound.iter().map(|(_, term)| *term).collect();
            return Box::new(relation.find(&terms[..]).into_iter().filter(holds));
        }
        if bound.is_empty() {
            return Box::new(relation.rows().filter(holds));
        }
        if relation.len() <= SMALL {
            let matches = move |row: &RowId| {
                bound.iter().all(|(column, term)| relation.term(*row, *column) == *term)
            };
            return Box::new(relation.rows().filter(holds).filter(matches));
        }
        let mut indexed = relation.indexed().enumerate();
        let same = |columns: &[usize]| {
            columns.len() == bound.len()
                && columns.iter().all(|column| bound.iter().any(|(other, _)| other == column))
        };
        let found = indexed.find(|(_, (columns, is_kept))| *is_kept && same(columns));
        let Some((index, (columns, _))) = found else {
            let columns: Vec<usize> = bound.iter().map(|(column, _)| *column).collect();
            let mut missed = self.missed.borrow_mut();
            if !missed.contains(&(view, columns.clone())) {
                missed.push((view, columns));
            }
            return Box::new(empty());
        };
        let term =
            |column: &usize| bound.iter().find(|(other, _)| other == column).map(|each| each.1);
        let key: Vec<TermId> = columns.iter().filter_map(term).collect();
        let index = IndexId::at(index);
        Box::new(relation.matches(index, relation.key(index, &key)).filter(holds))
    }

    fn quads_of<'a>(&'a self, view: usize, terms: [Option<Node>; 3]) -> Quads<'a> {
        if self.is_table[view] {
            return self.cells(view, terms);
        }
        let mut bound = Vec::new();
        for (column, node) in terms.iter().enumerate() {
            if let Some(node) = node {
                let Some(term) = self.term_in(view, *node) else { return Box::new(empty()) };
                bound.push((column, term));
            }
        }
        let View { kernel, relation, .. } = self.views[view];
        let relation = kernel.relation(relation);
        let graph_name = self.names[view];
        Box::new(self.rows(view, bound).map(move |row| {
            let node = |column| self.node_of(view, relation.term(row, column));
            Ok(InternalQuad { subject: node(0), predicate: node(1), object: node(2), graph_name })
        }))
    }

    fn cells<'a>(
        &'a self,
        view: usize,
        [subject, predicate, object]: [Option<Node>; 3],
    ) -> Quads<'a> {
        let View { kernel, relation, after } = self.views[view];
        let relation = kernel.relation(relation);
        let named = predicate.and_then(|name| self.columns.iter().position(|each| *each == name));
        let Some(column) = named.filter(|column| *column < relation.arity()) else {
            return Box::new(empty());
        };
        let rows: Box<dyn Iterator<Item = RowId> + 'a> = match (subject, object) {
            (Some(row), _) if row.0 & ROW == 0 => return Box::new(empty()),
            (Some(row), _) => {
                let row = RowId(u32::try_from(row.0 & !ROW).expect("rows are 32 bits wide"));
                Box::new(once(row).filter(move |row| relation.until(*row) > after))
            }
            (None, Some(object)) => match self.term_in(view, object) {
                Some(term) => self.rows(view, vec![(column, term)]),
                None => return Box::new(empty()),
            },
            (None, None) => self.rows(view, Vec::new()),
        };
        let unbound = kernel.dictionary().lookup(UNBOUND);
        let rows = rows.filter(move |row| Some(relation.term(*row, column)) != unbound);
        let (predicate, graph_name) = (self.columns[column], self.names[view]);
        let cells = rows.map(move |row| {
            let term = self.node_of(view, relation.term(row, column));
            let subject = Node(ROW | u64::from(row.0));
            InternalQuad { subject, predicate, object: term, graph_name }
        });
        Box::new(cells.filter(move |quad| object.is_none_or(|node| node == quad.object)).map(Ok))
    }
}

impl<'a> QueryableDataset<'a> for &'a Dataset<'a> {
    type InternalTerm = Node;
    type Error = Infallible;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&Node>,
        predicate: Option<&Node>,
        object: Option<&Node>,
        graph_name: Option<Option<&Node>>,
    ) -> impl Iterator<Item = Result<InternalQuad<Node>, Infallible>> + use<'a> {
        let terms = [subject.copied(), predicate.copied(), object.copied()];
        let graph_name = graph_name.map(Option::<&Node>::copied);
        let dataset: &'a Dataset<'a> = self;
        let is_asked = move |view: &usize| match graph_name {
            Some(name) => dataset.names[*view] == name,
            None => dataset.names[*view].is_some() && !dataset.is_table[*view],
        };
        let views = (0..dataset.views.len()).filter(is_asked);
        views.flat_map(move |view| dataset.quads_of(view, terms))
    }

    fn internal_named_graphs(&self) -> impl Iterator<Item = Result<Node, Infallible>> + use<'a> {
        let dataset: &'a Dataset<'a> = self;
        let graphs =
            dataset.names.iter().zip(&dataset.is_table).filter(|(_, is_table)| !**is_table);
        graphs.filter_map(|(name, _)| name.map(Ok))
    }

    fn contains_internal_graph_name(&self, graph_name: &Node) -> Result<bool, Infallible> {
        Ok(self.names.contains(&Some(*graph_name)))
    }

    fn internalize_term(&self, term: Term) -> Result<Node, Infallible> {
        Ok(self.node(&text(&term)))
    }

    fn externalize_term(&self, node: Node) -> Result<Term, Infallible> {
        if node.0 & ROW != 0 {
            return Ok(BlankNode::new_unchecked(format!("row{}", node.0 & !ROW)).into());
        }
        Ok(self.with_text(node, |text| {
            parse(text).unwrap_or_else(|| NamedNode::new_unchecked("urn:ebbtide:unreadable").into())
        }))
    }
}
