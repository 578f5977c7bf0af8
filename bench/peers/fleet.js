// The fleet as a peer holds it, and the three questions answered on it.
//
// Everything a peer could work out beforehand it has: clusters are objects in name order, so a page
// needs no sorting; each clause of a known selector is a prepared set, held as ascending positions
// and as one byte a cluster; the smallest clause leads. What is left to do for each request is what
// Trellis does too: intersect, count, cut the page, count along the tree.

import { readFileSync } from "node:fs";

export function readFleet(path) {
  const held = JSON.parse(readFileSync(path, "utf8"));
  const size = held.clusters.length;
  const sets = held.sets.map((positions) => preparedSet(positions, size));
  const meanings = new Map(
    Object.entries(held.selectors).map(([text, clauses]) => [text, meaning(clauses, sets)]),
  );
  return new Fleet(held.clusters, meanings, held.tree);
}

class Fleet {
  constructor(clusters, meanings, tree) {
    this.clusters = clusters;
    this.meanings = meanings;
    this.paths = tree.paths;
    this.depths = tree.depths;
    this.parents = Int32Array.from(tree.parents);
    this.places = Uint32Array.from(tree.places);
  }

  meaning(text) {
    const found = this.meanings.get(text);
    if (found === undefined) throw new Error(`not prepared for ${text}`);
    return found;
  }

  count(text) {
    let found = 0;
    eachChosen(this.meaning(text), () => {
      found += 1;
      return true;
    });
    return found;
  }

  page(text, first) {
    const rows = [];
    const { clusters } = this;
    eachChosen(this.meaning(text), (position) => rows.push(clusters[position]) < first);
    return rows;
  }

  tree(text, depth) {
    const { paths, depths, parents, places } = this;
    const counts = new Uint32Array(paths.length);
    let total = 0;
    eachChosen(this.meaning(text), (position) => {
      counts[places[position]] += 1;
      total += 1;
      return true;
    });
    for (let at = counts.length - 1; at > 0; at -= 1) counts[parents[at]] += counts[at];
    const rows = [];
    for (let at = 0; at < counts.length; at += 1) {
      if (depths[at] <= depth && (counts[at] || at === 0)) {
        const share = counts[at] / (total || 1);
        rows.push({ path: paths[at], depth: depths[at], count: counts[at], share });
      }
    }
    return rows;
  }
}

function preparedSet(positions, size) {
  const held = new Uint8Array(size);
  for (const position of positions) held[position] = 1;
  return { positions: Uint32Array.from(positions), held };
}

// A selector is a list of clauses that must all hold; a clause is a list of sets, one of which must.
function meaning(clauses, sets) {
  const single = clauses.filter((clause) => clause.length === 1).map(([only]) => sets[only]);
  single.sort((one, other) => one.positions.length - other.positions.length);
  const [leading, ...rest] = single;
  const either = clauses
    .filter((clause) => clause.length > 1)
    .map((clause) => clause.map((each) => sets[each].held));
  return { leading: leading.positions, rest: rest.map((each) => each.held), either };
}

function eachChosen({ leading, rest, either }, take) {
  for (let at = 0; at < leading.length; at += 1) {
    const position = leading[at];
    if (holds(position, rest, either) && !take(position)) return;
  }
}

function holds(position, rest, either) {
  for (let at = 0; at < rest.length; at += 1) if (!rest[at][position]) return false;
  for (let at = 0; at < either.length; at += 1) {
    const sets = either[at];
    let any = false;
    for (let each = 0; each < sets.length && !any; each += 1) any = sets[each][position] === 1;
    if (!any) return false;
  }
  return true;
}
