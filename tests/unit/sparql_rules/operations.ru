# One operation a line, for test_oracle.py.
INSERT { ?x ex:r ?z } WHERE { ?x ex:p ?y . ?y ex:p ?z }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p/ex:p ?z }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p|ex:v ?z }
INSERT { ?x ex:r ?z } WHERE { ?x (ex:p|^ex:p)/ex:v ?z }
INSERT { ?x ex:r ?z } WHERE { ?x !(ex:p|^ex:q) ?z }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p+ ?z }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p* ?z }
INSERT { ?x ex:r ?z } WHERE { ?x ex:q/ex:p* ?z }
INSERT { ?x ex:r ?z } WHERE { ?x ex:q? ?z }
INSERT { ?x ex:r ?z } WHERE { ?x (ex:p?/ex:q)+ ?z }
INSERT { ?x ex:r ex:d } WHERE { ?x ex:p* ex:a }
INSERT { ex:d ex:r ?x } WHERE { ex:d (ex:q|ex:p)+ ?x }
INSERT { ex:d ex:r ?x } WHERE { ?x ex:p* ?x }
INSERT { ?x ex:r ?v } WHERE { ?x ex:v ?v FILTER(?v > 1) }
INSERT { ?x ex:r ?v } WHERE { ?x ex:v ?v FILTER(!(?v > 1)) }
INSERT { ?x ex:r ?v } WHERE { ?x ex:v ?v FILTER(?v > 1 || isIRI(?x)) }
INSERT { ?x ex:r ?v } WHERE { ?x ?p ?v FILTER(?p != ex:v && !isLiteral(?v)) }
INSERT { ?x ex:r ?v } WHERE { ?x ?p ?v FILTER(?v IN (ex:a, 1, "x")) }
INSERT { ?x ex:r ?v } WHERE { ?x ?p ?v FILTER(?v = 1.0) }
INSERT { ?x ex:r ?v } WHERE { ?x ?p ?v FILTER(?p = ex:v) }
INSERT { ?x ex:r ?w } WHERE { ?x ex:v ?v BIND(?v + 1 AS ?w) }
INSERT { ?x ex:r ?w . ?x ex:s ex:ok } WHERE { ?x ex:v ?v BIND(?v + 1 AS ?w) }
INSERT { ?x ex:r ?w . ?x ex:s ex:ok } WHERE { ?x ex:v ?v BIND(?v + 1 AS ?w) FILTER(!BOUND(?w)) }
INSERT { ?x ex:r ?w } WHERE { ?x ex:v ?v BIND(IRI(CONCAT("http://e/", "b")) AS ?w) ?w ex:p ?z }
INSERT { ?x ex:r ?w . ?x ex:s ?z } WHERE { ?x ex:v ?v BIND(?v + 1 AS ?w) ?w ex:p ?z }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p ?z VALUES ?x { ex:a ex:b } }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p ?z VALUES (?x ?z) { (ex:a UNDEF) (UNDEF ex:c) (ex:c ex:b) } }
INSERT { ?x ex:r ?z } WHERE { { ?x ex:p ?z } UNION { ?z ex:q ?x } }
INSERT { ?x ex:r ?z . ?y ex:s ?x } WHERE { { ?x ex:p ?z } UNION { ?y ex:q ?x } }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p ?z FILTER NOT EXISTS { ?z ex:v ?k } }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p ?z FILTER NOT EXISTS { ?z ex:v ?k FILTER(?k > 1) } }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p ?z FILTER NOT EXISTS { ?z ex:v ?k . ?z a ?c } }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p ?z . ?x ex:v ?v FILTER NOT EXISTS { ?z ex:v ?k FILTER(?k > ?v) } }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p ?z FILTER EXISTS { ?z ex:v ?k FILTER(?k > 1) } }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p ?z FILTER(EXISTS { ?z ex:v 1 } || ?x = ex:b) }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p ?z FILTER(!(EXISTS { ?z ex:v 1 } || ?x = ex:b)) }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p ?z MINUS { ?z a ?c } }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p ?z MINUS { ?k a ?c } }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p ?z MINUS { { ?z a ?c } UNION { ?x ex:v ?k FILTER(?k = 1) } } }
INSERT { ?x ex:r ?z . ?x ex:s ?c } WHERE { ?x ex:p ?z OPTIONAL { ?z a ?c } }
INSERT { ?x ex:r ?z . ?x ex:s ?k } WHERE { ?x ex:p ?z . ?x ex:v ?v OPTIONAL { ?z ex:v ?k FILTER(?k > ?v) } }
INSERT { ?x ex:r ?z } WHERE { ?x ex:p ?z . OPTIONAL { ?z a ?c } FILTER(!BOUND(?c)) }
INSERT { ?x ex:r ?c } WHERE { ?x ex:p ?z . OPTIONAL { ?z a ?c } ?x a ?c }
INSERT { ?x ex:r ?z } WHERE { GRAPH ex:g { ?x ex:p ?z } }
INSERT { ?x ex:r ?g } WHERE { GRAPH ?g { ?x ex:p ?z } ?x ex:v ?v }
INSERT { ?x ex:r ?g } WHERE { GRAPH ?g { ?x ex:p* ?z } }
INSERT { ?x ex:r ?z } WHERE { GRAPH ex:g { ?x ex:p+ ?z } }
INSERT { ?x ex:r ?z } USING ex:g WHERE { ?x ex:p ?z }
INSERT { GRAPH ex:k { ?x ex:r ?z } } WHERE { ?x ex:p ?z }
INSERT { GRAPH ?g { ?x ex:r ?z } } WHERE { ?x ex:p ?z GRAPH ?g { ?x ex:p ?u } }
WITH ex:g INSERT { ?x ex:r ?z } WHERE { ?x ex:p ?y . ?y ex:p ?z }
INSERT { ?z ex:r ?x } WHERE { ?x ?p ?z }
INSERT { ?x ?z ?x } WHERE { ?x ?p ?z }
INSERT { ?x ex:r ?y } WHERE { { SELECT DISTINCT ?x { ?x ex:p ?y } } ?x ex:v ?y }
INSERT { ?x ex:r ?k } WHERE { { SELECT (?y AS ?k) ?x { ?x ex:p ?y } } ?x ex:v ?y }
INSERT { ?x ex:r ?y } WHERE { ?x ex:p _:b . _:b ex:v ?y }
INSERT { ?x ex:r ?y } WHERE { ?x ex:p [ ex:v ?y ; ex:p [] ] }
INSERT { ?x ex:r ?y } WHERE { ?x ex:v ?v . ?y ex:v ?w FILTER(?v < ?w) }
INSERT { ?x ex:r ?y } WHERE { ?x ex:q ?y FILTER(LANG(?y) = "en" || DATATYPE(?y) = xsd:integer) }
INSERT { ?x ex:r ?y } WHERE { ?x ex:q ?y FILTER(STRSTARTS(STR(?y), "http://e/")) }
INSERT { ?x ex:r ?y } WHERE { ?x ex:q ?y FILTER REGEX(STR(?y), "^L", "i") }
INSERT { ?x ex:r ?w } WHERE { ?x ex:v ?v BIND(IF(?v > 1, "big", "small") AS ?w) }
INSERT { ?x ex:r ?w } WHERE { ?x ex:v ?v BIND(COALESCE(?v + 1, "none") AS ?w) }
INSERT { ?x ex:r ?w } WHERE { ?x ex:v ?v BIND(?v + 1 AS ?w) FILTER NOT EXISTS { ?z ex:v ?w } }
INSERT { ?x ex:r ?w } WHERE { ?x ex:v ?v BIND(?v + 1 AS ?w) FILTER(?w > 2) }
INSERT { ?x ex:r ex:no } WHERE { ?x ex:p ?y FILTER NOT EXISTS { ?x ex:p ?z FILTER NOT EXISTS { ?z ex:v ?k } } }
INSERT { ex:u ex:r ex:no } WHERE { FILTER NOT EXISTS { ?x ex:nothing ?z } }
INSERT { ex:u ex:r ex:no } WHERE { }
INSERT { ?x ex:p ?y } WHERE { ?x ex:p ?y }
INSERT { ?x ex:r ?y } WHERE { ?x ex:v ?y FILTER(?y) }
INSERT { ?x ex:r ?y } WHERE { ?x ex:v ?y FILTER(sameTerm(?y, 1)) }
INSERT { ?x ex:r ?y } WHERE { ?x ex:p ?y . ?y ex:p ?z FILTER(sameTerm(?x, ?z)) }
INSERT { ?x ex:r ?y } WHERE { ?x ex:v ?z BIND(xsd:string(?z) AS ?y) }
