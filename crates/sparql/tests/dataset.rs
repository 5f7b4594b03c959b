//! Queries on the facts of kernels: lifetimes, indexes, several kernels, tables.

use ebbtide_kernel::external::Externals;
use ebbtide_kernel::ids::{RelationId, StreamId, TermId};
use ebbtide_kernel::instant::Instant;
use ebbtide_kernel::kernel::{Kernel, Settings};
use ebbtide_kernel::rule::{Declaration, Program};
use ebbtide_kernel::window::Window;
use ebbtide_sparql::dataset::{Dataset, View};
use ebbtide_sparql::query::{Answers, Instants, Query, add_instants};

const TRIPLE: RelationId = RelationId(0);
const PAIR: RelationId = RelationId(1);
const STREAM: StreamId = StreamId(0);
const RANGE: i64 = 10;

fn kernel(facts: &[(RelationId, &[&str], i64)]) -> Kernel {
    let declare = |name: &str, arity| Declaration { name: name.into(), arity };
    let program =
        Program { relations: vec![declare("triple", 3), declare("pair", 2)], ..Program::default() };
    let settings =
        Settings { windows: vec![Window::Sliding { range: RANGE }], ..Settings::default() };
    let mut kernel = Kernel::new(program, Externals::default(), settings);
    for (relation, texts, at) in facts {
        let terms: Vec<TermId> =
            texts.iter().map(|text| kernel.dictionary_mut().intern(text)).collect();
        kernel.push(STREAM, *relation, &terms, Instant(*at)).unwrap();
    }
    kernel.advance(Instant(10)).unwrap();
    kernel
}

fn view(kernel: &Kernel, relation: RelationId, after: i64) -> View<'_> {
    View { kernel, relation, after: Instant(after) }
}

fn rows(text: &str, dataset: &Dataset<'_>) -> Vec<Vec<Option<String>>> {
    let answers =
        Query::parse(text).unwrap().answers(dataset, "1970-01-01T00:00:00Z", Instants::new());
    assert!(dataset.missed().is_empty());
    let Ok(Answers::Solutions(_, mut rows)) = answers else { panic!("not solutions") };
    rows.sort();
    rows
}

#[test]
fn a_narrower_view_leaves_out_what_ends_earlier() {
    let facts: &[(RelationId, &[&str], i64)] =
        &[(TRIPLE, &["<a:1>", "<a:p>", "<a:x>"], 2), (TRIPLE, &["<a:2>", "<a:p>", "<a:x>"], 8)];
    let kernel = kernel(facts);
    for (after, expected) in [(10, 2), (13, 1), (18, 0)] {
        let dataset = Dataset::new(vec![(None, view(&kernel, TRIPLE, after))], vec![]);
        assert_eq!(rows("SELECT ?s { ?s <a:p> ?o }", &dataset).len(), expected, "after {after}");
    }
}

#[test]
fn a_missing_index_is_noted_and_then_kept() {
    let names: Vec<String> = (0..100).map(|number| format!("<a:{number}>")).collect();
    let mut triples: Vec<Vec<&str>> = Vec::new();
    for pair in names.windows(2) {
        triples.push(vec![&pair[0], "<a:next>", &pair[1]]);
    }
    let facts: Vec<(RelationId, &[&str], i64)> =
        triples.iter().map(|terms| (TRIPLE, terms.as_slice(), 5)).collect();
    let mut kernel = kernel(&facts);
    let query = Query::parse("SELECT ?z { <a:1> <a:next> ?y . ?y <a:next> ?z }").unwrap();
    for _ in 0..4 {
        let missed = {
            let dataset = Dataset::new(vec![(None, view(&kernel, TRIPLE, 10))], vec![]);
            let answers = query.answers(&dataset, "1970-01-01T00:00:00Z", Instants::new());
            if dataset.missed().is_empty() {
                let Ok(Answers::Solutions(_, rows)) = answers else { panic!("not solutions") };
                assert_eq!(rows, [[Some("<a:3>".to_owned())]]);
                return;
            }
            dataset.missed()
        };
        for (_, columns) in missed {
            kernel.ask_index(TRIPLE, columns);
        }
    }
    panic!("an index was asked for and not kept");
}

#[test]
fn terms_of_several_kernels_are_the_same() {
    let here = kernel(&[(TRIPLE, &["<a:1>", "<a:p>", "<a:x>"], 5)]);
    let there = kernel(&[
        (TRIPLE, &["<a:other>", "<a:q>", "<a:y>"], 5),
        (TRIPLE, &["<a:x>", "<a:q>", "\"7\""], 5),
    ]);
    let graphs = vec![(None, view(&here, TRIPLE, 10)), (Some("<a:g>"), view(&there, TRIPLE, 10))];
    let dataset = Dataset::new(graphs, vec![]);
    let found = rows("SELECT ?s ?v ?g { ?s <a:p> ?o GRAPH ?g { ?o <a:q> ?v } }", &dataset);
    let texts = ["<a:1>", "\"7\"", "<a:g>"];
    assert_eq!(found, [texts.map(|text| Some(text.to_owned()))]);
}

#[test]
fn a_table_is_a_graph_of_its_rows() {
    let kernel = kernel(&[
        (PAIR, &["<a:1>", "\"x\""], 5),
        (PAIR, &["<a:2>", "<urn:ebbtide:unbound>"], 5),
        (TRIPLE, &["<a:1>", "<a:p>", "<a:y>"], 5),
    ]);
    let graphs = vec![(None, view(&kernel, TRIPLE, 10))];
    let dataset = Dataset::new(graphs, vec![("<urn:t>", view(&kernel, PAIR, 10))]);
    let text = "SELECT ?a ?b { GRAPH <urn:t> { ?r <urn:ebbtide:column:0> ?a
        OPTIONAL { ?r <urn:ebbtide:column:1> ?b } } }";
    let first = [Some("<a:1>".to_owned()), Some("\"x\"".to_owned())];
    assert_eq!(rows(text, &dataset), [first, [Some("<a:2>".to_owned()), None]]);
    assert_eq!(rows("SELECT ?g { GRAPH ?g { ?s ?p ?o } }", &dataset).len(), 0, "no graph of data");
}

#[test]
fn triples_tell_when_they_happened() {
    let kernel = kernel(&[(TRIPLE, &["<a:1>", "<a:p>", "<a:x>"], 4)]);
    let shown = view(&kernel, TRIPLE, 10);
    let text = "PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#>
        SELECT (f:timestamp(?s, ?p, ?o) AS ?t) (NOW() AS ?now) { ?s ?p ?o }";
    let dataset = Dataset::new(vec![(None, shown)], vec![]);
    let now = "1970-01-01T00:00:10Z";
    let mut happened = Instants::new();
    add_instants(&mut happened, shown, RANGE);
    let answers = Query::parse(text).unwrap().answers(&dataset, now, happened);
    let Ok(Answers::Solutions(_, rows)) = answers else { panic!("not solutions") };
    let number = "\"4\"^^<http://www.w3.org/2001/XMLSchema#integer>".to_owned();
    let moment = format!("\"{now}\"^^<http://www.w3.org/2001/XMLSchema#dateTime>");
    assert_eq!(rows, [[Some(number), Some(moment)]]);
}
